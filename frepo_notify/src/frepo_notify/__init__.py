"""frepo's notifications: tells people and other services what happened, and a watcher that the service is healthy."""
