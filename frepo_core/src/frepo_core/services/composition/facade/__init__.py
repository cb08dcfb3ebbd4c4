"""What plug-ins get instead of the services themselves: it implements `frepo_core.plugins.Service`."""
