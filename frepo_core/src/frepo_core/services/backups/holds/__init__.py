"""What holds a version: pins, with or without an end, and the locks of collections."""
