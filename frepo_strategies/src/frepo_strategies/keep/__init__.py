"""The strategy `keep`: grandfather, father, son, with the rules of restic's `forget`."""

from .options import KeepOptions
from .strategy import Keep

__all__ = ["Keep", "KeepOptions"]
