"""Error messages and the exit status of `frepo`."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

from frepo_core.domain.texts.foreign_text import escape_controls
from frepo_core.error_explanations import FieldNames
from frepo_core.errors import DatabaseUnavailableError, FieldsError, FrepoError, RuleError


class _OptionNames(FieldNames):
    """The option of a guard has its name."""

    def __missing__(self, name: str) -> str:
        first, _, guard = name.partition(".")
        return f"--{guard.replace('_', '-')}" if first == "guards" else super().__missing__(name)


# The options for fields of errors that have other names.
OPTIONS = _OptionNames(
    {
        "content": "--file",
        "limits.total_size": "--max-collection-size",
        "limits.version_size": "--max-one-version-size",
        "limits.versions": "--max-backups-count",
        "overwrite": "--overwrite",
        "strategy_options": "--strategy-options",
    }
)
# What commands call a field, where that is not its name.
_OTHER_NAMES = {
    "collection": ("id",),
    "duration": ("for",),
    "labels": ("label",),
    "expires-at": ("expires",),
    "token": ("fingerprint", "allow"),
}


def exit_status(work: Callable[[], int | None], stdout: TextIO, stderr: TextIO) -> int:
    """Run `work`, and return the exit status that it returns. An error of frepo is printed, and is exit status 1.

    argparse alone would exit with 2.
    """
    try:
        status = int(work() or 0)
    except FrepoError as error:
        print(escape_controls(explain(error), keeps_lines=True), file=stderr)
        status = 1
    except SystemExit as exit_:
        status = 1 if exit_.code else 0
    try:
        stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _discard_stdout()
        status = status or 1
    except OSError as error:
        _discard_stdout()
        print(f"frepo: the answer cannot be written: {error.strerror}", file=stderr)
        status = 1
    return status


def _discard_stdout() -> None:
    """Redirect stdout to /dev/null, so that Python does not fail with a traceback when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def explain(error: Exception, parser: argparse.ArgumentParser | None = None) -> str:
    """Return a message of one or more lines for an error of frepo, or for an unexpected exception.

    With the `parser` of the command, a field is named as in its usage.
    """
    if isinstance(error, FrepoError):
        return "\n".join(
            [f"frepo: {error.sentence or error.message}", *(f"  {line}" for line in _details(error, parser))]
        )
    reason = " ".join(str(error).split()) or "no reason given"
    return (
        f"frepo: unexpected {type(error).__name__}: {reason}\n  Run it with --debug to get a traceback for a bug report"
    )


def _details(error: FrepoError, parser: argparse.ArgumentParser | None) -> Iterator[str]:
    if isinstance(error, FieldsError):
        for name, texts in error.fields.items():
            yield f"{_argument(name, parser)}: {', '.join(texts)}"
    elif isinstance(error, RuleError):
        yield f"{_argument(error.field, parser)}: {error.text}{_context(error.context)}"
    elif isinstance(error, DatabaseUnavailableError) and error.__cause__:
        yield " ".join(str(getattr(error.__cause__, "orig", None) or error.__cause__).split())
    if explanation := error.explain(OPTIONS):
        yield explanation
    if error.remedy:
        yield error.remedy


def _argument(field: str, parser: argparse.ArgumentParser | None) -> str:
    """Return what the usage of the command calls a field of the API, else the option that it would be."""
    name = option(field)
    if parser is None:
        return name
    options = {one for action in parser._actions for one in action.option_strings}
    arguments = {action.dest for action in parser._actions if not action.option_strings}
    plain = name.strip("-<>").rpartition(".")[2]
    for one in (plain, *_OTHER_NAMES.get(plain, ())):
        if f"--{one}" in options:
            return f"--{one}"
        if one in arguments:
            return f"<{one}>"
    return name if name in options else plain


def option(field: str) -> str:
    """Return the option for a field: `--min-retention` for `guards.min_retention`. `<file>` is an argument."""
    name = OPTIONS[field]
    return name if name.startswith(("-", "<")) else f"--{name.lower().replace('_', '-')}"


def _context(context: Mapping[str, Any] | None) -> str:
    return f" ({', '.join(f'{name}: {value}' for name, value in context.items())})" if context else ""
