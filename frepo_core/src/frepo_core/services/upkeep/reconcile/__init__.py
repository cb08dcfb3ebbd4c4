"""Compares the listings of storages with the rows of objects, for recovery, merge and sweep alike."""
