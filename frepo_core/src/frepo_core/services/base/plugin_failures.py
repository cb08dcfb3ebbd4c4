"""What the service catches when it calls a function of a plug-in, and what it does with the texts of one."""

import inspect
import json
import re
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast

Result = TypeVar("Result")

# A plug-in that ends the interpreter with `exit()` must not end the service.
PLUGIN_FAILURES = (Exception, SystemExit, KeyboardInterrupt)
LONGEST_NAME = 64
MOST_KINDS = 8
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def raise_interrupt(error: BaseException) -> None:
    """Raise the error again if the operator pressed Ctrl-C, which Python raises in the main thread only."""
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error


def describe_failure(error: BaseException) -> str:
    """Return type and text of an exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def storable(text: str) -> str:
    """Replace what databases or JSON refuse by U+FFFD: NUL, and the halves of surrogate pairs.

    Python has such halves in file names that are not UTF-8.
    """
    return _NOT_STORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def storable_kinds(kinds: object) -> tuple[str, ...] | None:
    """Return the formats that a plug-in names as they are stored: the innermost ones, as the others say less."""
    if not isinstance(kinds, (tuple, list)):
        return None
    return tuple(storable_name(kind) for kind in kinds[-MOST_KINDS:])


def storable_name(name: object) -> str:
    """Return the name of a format or a database as it is stored."""
    return storable(str(name))[:LONGEST_NAME]


def as_json(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return details as they are stored: what JSON cannot express becomes a text."""
    try:
        text = json.dumps(dict(details), default=str, ensure_ascii=False, allow_nan=False)
        return cast(dict[str, Any], json.loads(storable(text)))
    except (TypeError, ValueError):
        return {"details": storable(str(details))}


def call_with_context(function: Callable[..., Result], context: object, *arguments: Any) -> Result:
    """Call the function, with the context as its last argument if it has a parameter for it, without a default."""
    return function(*arguments, context) if _needs(function) > len(arguments) else function(*arguments)


def _needs(function: Callable[..., Any]) -> int:
    method = getattr(function, "__func__", None)
    return _count(function) if method is None else _count_of_method(method) - 1


def _count(function: Callable[..., Any]) -> int:
    """Return the number of positional parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions that are written in C have no signature
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is each.empty for each in parameters)


# A method stays as long as its class; another function may hold what belongs to one request.
_count_of_method = lru_cache(maxsize=256)(_count)
