"""The examination of an installation by `frepo doctor`: what is wrong, and what to do."""

from .doctor import examine
from .findings import Finding, Level

__all__ = ["Finding", "Level", "examine"]
