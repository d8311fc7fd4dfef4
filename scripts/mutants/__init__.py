"""Would anybody notice? Breaks the modules that decide, one small fault at a time, and runs the unit tests on each."""
