"""Encrypted files: what can be seen without the key."""
