"""What is installed, and the settings in force."""
