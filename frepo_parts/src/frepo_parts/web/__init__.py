"""The endpoints about parts of versions."""
