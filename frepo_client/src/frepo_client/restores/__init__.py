"""How a version gets back from the server."""
