"""The rows of collections and versions: how they are found, judged, locked, counted and removed."""
