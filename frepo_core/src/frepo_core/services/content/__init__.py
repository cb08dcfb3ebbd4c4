"""Content on its way in and out: spooling, hashing, type detection, verified reading."""
