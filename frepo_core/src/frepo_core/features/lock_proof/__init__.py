"""Tries whether storages really keep what they were told to keep."""
