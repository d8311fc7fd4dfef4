"""An outside judge of any operator of these kinds: every fault, every edit, and what became of it."""
