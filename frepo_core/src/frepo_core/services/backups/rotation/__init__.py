"""Rotation: which versions of a collection are deleted so that a new one fits, and when the new one is refused."""
