"""What the service catches when it calls a function of a plug-in, and what it does with the texts of one."""

import inspect
import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

# A plug-in that ends the interpreter with `exit()` must not end the service.
PLUGIN_FAILURES = (Exception, SystemExit, KeyboardInterrupt)
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


def call_with_context(function: Callable[..., Result], context: object, *arguments: Any) -> Result:
    """Call the function, with the context as its last argument if it has a parameter for it, without a default."""
    return function(*arguments, context) if _needs(function) > len(arguments) else function(*arguments)


def _needs(function: Callable[..., Any]) -> int:
    """Return the number of positional parameters without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions that are written in C have no signature
        return 0
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in positional and each.default is each.empty for each in parameters)
