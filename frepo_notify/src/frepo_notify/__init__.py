"""frepo's notifications: sends events to people and other services, and a heartbeat to an external monitor."""
