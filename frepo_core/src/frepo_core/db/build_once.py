"""Builds the parts of statements once for all threads."""

import functools
import threading
from collections.abc import Callable
from typing import TypeVar, cast

_Builder = TypeVar("_Builder", bound=Callable[..., object])


def build_once(build: _Builder) -> _Builder:
    """Keep what a function returns for its arguments; threads that ask first at the same moment get the same object.

    With `functools.cache` each of them gets its own. A statement that is made of two such parts has two different
    common table expressions of one name, and fails, also each time that it is used again.
    """
    lock, kept = threading.RLock(), functools.cache(build)

    @functools.wraps(build)
    def get(*arguments: object) -> object:
        with lock:
            return kept(*arguments)

    return cast(_Builder, get)
