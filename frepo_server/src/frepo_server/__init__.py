"""A WSGI server for large request bodies, based on waitress."""

from .runner import serve

__all__ = ["serve"]
