"""A fleet in one file: collections and tokens as the file says, with a key for each, and what differs from it."""
