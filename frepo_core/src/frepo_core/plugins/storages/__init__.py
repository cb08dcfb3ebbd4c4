"""The storage contract, and helpers for authors of storages."""
