"""Error messages of the console."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from frepo_core.errors import DatabaseUnavailableError, FieldsError, FrepoError, RuleError

_CAPITAL = re.compile("[A-Z]")


def explain(error: Exception) -> str:
    """Return a message of one or more lines for an error of frepo, or for an unexpected exception."""
    if isinstance(error, FrepoError):
        return "\n".join([f"frepo: {error.message}", *(f"  {line}" for line in _details(error))])
    reason = " ".join(str(error).split()) or "no reason given"
    return (
        f"frepo: unexpected {type(error).__name__}: {reason}\n  Run it with --debug to get a traceback for a bug report"
    )


def _details(error: FrepoError) -> Iterator[str]:
    if isinstance(error, FieldsError):
        for name, texts in error.fields.items():
            yield f"{option(name)}: {', '.join(texts)}"
    elif isinstance(error, RuleError):
        yield f"{option(error.field)}: {error.text}{_context(error.context)}"
    elif isinstance(error, DatabaseUnavailableError) and error.__cause__:
        yield " ".join(str(getattr(error.__cause__, "orig", None) or error.__cause__).split())
    if error.explanation:
        yield error.explanation


def option(field: str) -> str:
    """Return the option for a field of the API: `--min-retention` for `minRetention`. `<file>` is an argument."""
    name = field.removeprefix("form.")
    return name if name.startswith(("-", "<")) else "--" + _CAPITAL.sub(lambda capital: f"-{capital[0].lower()}", name)


def _context(context: Mapping[str, Any] | None) -> str:
    return f" ({', '.join(f'{name}: {value}' for name, value in context.items())})" if context else ""
