"""What may go wrong with one request or one watch event, and how a line of text names it."""
