"""How the client talks to a server."""
