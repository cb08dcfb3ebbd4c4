"""Counts what a request costs: statements, commits, syncs, round trips, other threads, calls and files of our own."""
