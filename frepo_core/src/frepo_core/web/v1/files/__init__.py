"""Plain files."""
