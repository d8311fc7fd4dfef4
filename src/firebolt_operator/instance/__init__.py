"""One FireboltInstance: its pass from top to bottom, its life, and the words that pass between the rooms inside."""
