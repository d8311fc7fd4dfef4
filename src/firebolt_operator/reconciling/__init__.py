"""What every reconciler shares: verdicts, finalizers, status writes, warnings, confirmed reads, memos, certificates."""
