"""Content that is fetched from another server (add-by-url)."""
