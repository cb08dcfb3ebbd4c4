"""What the service answers about archives of WAL. Only the web imports this."""
