"""What is installed and how it is set: plug-ins, settings and storages, and the damage that is known."""
