"""Versions of collections: adding, reading, changing and checking them."""
