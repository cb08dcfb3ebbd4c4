"""Blobs: writing, using and deleting them, and the backends that hold them."""
