"""Checks of targets, without a message: whether their URLs are understood, and whether their servers answer."""
