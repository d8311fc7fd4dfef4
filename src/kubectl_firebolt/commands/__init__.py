"""What people type: flags in, kubectl run, words out. Decisions are made elsewhere."""
