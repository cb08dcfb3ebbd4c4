"""Contents of uploads and downloads: spooling, hashing, type detection and verified reading."""
