"""What the agent answers, how many queries it may hold, and which wake requests are due. Pure."""
