"""What people do to instances, engines and classes, one chapter at a time, and the place where it happens."""
