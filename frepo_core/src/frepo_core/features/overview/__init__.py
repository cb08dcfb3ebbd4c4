"""The overview: whether all is well, how much is stored, and how it grew, for operators."""
