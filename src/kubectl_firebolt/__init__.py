"""kubectl firebolt: engines and instances at a glance, changed, asked and explained, with nothing but kubectl."""
