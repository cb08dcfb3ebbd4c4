"""Contents that are stored compressed, or as the difference to another content: docs/compact-format.md."""
