"""A property of a request that is found once."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class LazyProperty(Generic[Value]):
    """Finds a value at its first use, and keeps it in the object. An error is not kept.

    `functools.cached_property` of Python 3.11 lets all other threads wait meanwhile, those of other objects, too.
    """

    def __init__(self, find: Callable[[Any], Value]) -> None:
        self.fget = find
        self.__doc__ = find.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Value:
        """Find the value. Later uses do not come here: Python looks into the object first."""
        value = owner.__dict__[self.fget.__name__] = self.fget(owner)
        return value
