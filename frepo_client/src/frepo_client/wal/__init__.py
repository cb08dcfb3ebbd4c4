"""The archive of a PostgreSQL: its files are pushed and fetched by their names."""
