"""The contracts of checks: of uploaded content, and of the health of the service."""
