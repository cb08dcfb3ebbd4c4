"""Tokens that replace themselves, and the chains that they form."""
