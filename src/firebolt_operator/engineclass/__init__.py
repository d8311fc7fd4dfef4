"""What engines share, one object a pass: whether it is fit for use, who depends on it, and whether it may go."""
