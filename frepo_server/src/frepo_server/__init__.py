"""Runs a WSGI application under waitress, prepared for large request bodies."""

from .runner import serve

__all__ = ["serve"]
