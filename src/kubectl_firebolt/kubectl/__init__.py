"""kubectl, which does all the work: what it is asked for, how that is printed, and how it is run."""
