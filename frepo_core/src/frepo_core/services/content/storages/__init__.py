"""Storages: their adapters, whose they are, whether they answer, and how much room they have."""
