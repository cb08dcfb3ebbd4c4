"""The commands `frepo plugins` and `frepo storages`."""
