"""Archives and images that are read from their start to their end."""
