"""What plug-ins can ask the service, and what it answers."""
