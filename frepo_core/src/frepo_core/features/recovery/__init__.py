"""Recovery: a lost database is made again from the storages, and what a restored one lacks is read back."""
