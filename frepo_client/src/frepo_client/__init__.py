"""The client of frepo: backs up what this machine has, and restores it. It needs Python and nothing else."""

__version__ = "0.2.0"
# CI runs each command with it. Raise it here, and tests/client/faults/test_oldest_python.py says where else.
OLDEST_PYTHON = (3, 9)
