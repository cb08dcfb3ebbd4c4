"""The commands of `frepo`."""
