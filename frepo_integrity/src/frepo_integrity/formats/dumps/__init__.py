"""Files that databases write as their backups."""
