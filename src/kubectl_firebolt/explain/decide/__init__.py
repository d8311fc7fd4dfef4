"""From objects to findings. Pure: everything that is looked at is in `Seen`, the time included."""
