"""The agent beside Envoy: it holds queries, asks for engines to be woken, and lets queries go on."""
