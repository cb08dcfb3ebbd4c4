"""The client of frepo: backs up what this machine has, and restores it. It needs Python 3.8 and nothing else."""

__version__ = "0.2.0"
