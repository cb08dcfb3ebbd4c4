"""Parts that only SQLite needs."""
