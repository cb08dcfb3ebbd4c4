"""How a version gets to the server."""
