"""Aliases in the database: listing, making and deleting further names of files."""
