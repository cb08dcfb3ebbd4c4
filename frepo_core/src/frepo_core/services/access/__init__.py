"""Tokens, passwords and signed links."""
