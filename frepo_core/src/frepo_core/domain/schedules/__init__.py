"""Times that repeat: cron expressions, and when the next backup of a collection is expected."""
