"""The command that gives backups back."""
