"""Commands for storages."""
