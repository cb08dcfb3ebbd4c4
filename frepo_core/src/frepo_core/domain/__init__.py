"""Pure rules: no input or output, no clock, no framework. What the time is, the caller says."""
