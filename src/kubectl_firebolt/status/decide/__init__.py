"""From objects to what a rollout looks like. Pure."""
