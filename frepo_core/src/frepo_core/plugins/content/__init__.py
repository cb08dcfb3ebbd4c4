"""Contents that a plug-in hands over to the service."""
