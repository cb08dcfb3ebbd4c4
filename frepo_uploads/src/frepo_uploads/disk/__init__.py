"""The files of open uploads: where they lie, who writes to them, what was hashed, and how much room they take."""
