"""Where is a rollout? As a picture that changes, or as a line for every change."""
