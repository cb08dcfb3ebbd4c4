"""Collections and their versions, and the rotation of versions."""
