"""The commands of second copies."""
