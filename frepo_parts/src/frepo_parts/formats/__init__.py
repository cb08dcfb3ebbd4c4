"""The formats of which parts can be listed: one module for each."""
