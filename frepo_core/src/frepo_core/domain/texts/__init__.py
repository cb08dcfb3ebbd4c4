"""Texts that clients wrote."""
