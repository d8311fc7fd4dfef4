"""Who may use an instance: its administrator, its signing keys, and what engines are told of both."""
