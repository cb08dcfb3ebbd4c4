"""Contents between the service and files of the user."""
