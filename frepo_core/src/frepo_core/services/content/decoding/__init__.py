"""Decodes uploads: base64 of the first API, and the codings in Content-Encoding of the second."""
