"""Commands for tokens."""
