"""What was tried, what broke, and the line that shows it again."""
