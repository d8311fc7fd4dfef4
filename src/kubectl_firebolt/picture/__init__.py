"""The picture of an engine over time, drawn by the demo and by `kubectl firebolt record`. Pure."""
