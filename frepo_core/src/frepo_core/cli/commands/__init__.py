"""The commands of the console."""
