"""Measures frepo against things that do the same work, alternating in one run: `make bench`, `make bench-full`."""
