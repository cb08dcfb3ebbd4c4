"""The endpoints of plug-ins, settings, storages and damaged contents."""
