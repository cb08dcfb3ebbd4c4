"""Commands that prepare a service."""
