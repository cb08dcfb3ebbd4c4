"""How long the service waits for the database, and how long the database waits for the service."""
