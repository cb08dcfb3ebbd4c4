"""What can be wrong with the installed packages of plug-ins."""
