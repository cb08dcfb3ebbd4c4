"""Blobs that are encoded: reading them over their chains of bases, and changing how one is stored."""
