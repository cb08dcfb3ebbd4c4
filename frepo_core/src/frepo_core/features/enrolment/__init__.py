"""Enrols hosts: one-time codes with which they get their tokens, and a collection and a token for each of a fleet."""
