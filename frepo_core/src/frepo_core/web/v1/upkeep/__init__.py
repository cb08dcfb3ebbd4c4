"""What the service did and does: events, jobs and health."""
