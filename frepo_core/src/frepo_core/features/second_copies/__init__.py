"""Second copies: making them, reading from the one that is left, and letting one storage take the place of another."""
