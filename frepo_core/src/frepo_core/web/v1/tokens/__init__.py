"""Access tokens, by their fingerprints."""
