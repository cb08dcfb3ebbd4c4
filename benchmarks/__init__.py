"""Measures frepo against programs that do the same work, alternating in one run: `make bench`, `make bench-full`."""
