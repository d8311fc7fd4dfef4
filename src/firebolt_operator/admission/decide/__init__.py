"""What is answered to a write of one of our kinds, and when certificates are renewed. Pure."""
