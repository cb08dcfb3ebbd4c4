"""Moves contents between storages: all of one storage, or what a collection has."""
