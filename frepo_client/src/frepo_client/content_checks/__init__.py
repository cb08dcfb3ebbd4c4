"""A small check of a dump before it is encrypted, because afterwards the server cannot look into it."""
