"""Figures about the whole service, and how they grew."""
