"""Is all well? Health, overview, inventory, statistics, and what has happened."""
