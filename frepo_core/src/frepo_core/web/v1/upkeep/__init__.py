"""What the service did and does: events, jobs, plug-ins and settings."""
