"""The operator: a process that keeps engines, instances and classes as their owners asked for them."""
