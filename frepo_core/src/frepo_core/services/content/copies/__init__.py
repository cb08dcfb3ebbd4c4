"""Second copies of blobs: the wish for one, copying, and reading from the one that is left."""
