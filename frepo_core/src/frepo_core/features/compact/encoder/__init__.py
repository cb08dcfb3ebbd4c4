"""Encodes contents: finds what a base has, and writes the object in the format that the nucleus reads."""
