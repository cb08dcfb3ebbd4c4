"""Pure rules: no input or output, no clock, no framework. Callers pass the current time."""
