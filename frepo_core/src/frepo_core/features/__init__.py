"""What the mission does not ask for: each feature with all its layers in one folder."""
