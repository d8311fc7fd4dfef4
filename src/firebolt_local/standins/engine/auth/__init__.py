"""Who may ask an engine? It gives out tokens to those who know a password, and believes them and those of providers."""
