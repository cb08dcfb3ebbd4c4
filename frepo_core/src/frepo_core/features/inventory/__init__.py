"""What is installed and in force: plug-ins, settings and storages, and the damage that is known."""
