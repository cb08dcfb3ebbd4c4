"""The box: a process without a network, without frepo's folders and with limits, in which an engine restores."""
