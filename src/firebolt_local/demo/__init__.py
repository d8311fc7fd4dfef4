"""The operator at work, for people who want to see it before they read about it."""
