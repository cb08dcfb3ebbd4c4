"""The options that the commands about collections share: their values, limits and guards."""

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.domain.durations import parse_duration
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.domain.naming import check_file_name
from frepo_core.domain.sizes import parse_size
from frepo_core.domain.structs import struct
from frepo_core.error_explanations import explain
from frepo_core.errors import FieldsError

from .base import check_length

if TYPE_CHECKING:
    from frepo_core.services.backups.rows.collection_change import CollectionChange


@struct
class Number:
    """An option, its parser, and what a new collection gets without the option."""

    flags: tuple[str, ...]
    metavar: str
    parse: Callable[[str], Any]
    help: str
    default: str

    def read(self, arguments: argparse.Namespace) -> Any:
        """Return the value, or None if the option is missing. Raises `FieldsError`."""
        text = getattr(arguments, self.flags[-1].removeprefix("--").replace("-", "_"))
        if text is None:
            return None
        try:
            value = self.parse(text)
        except ValueError as error:
            raise self._refused(str(error), text) from None
        if isinstance(value, int) and value < 0:
            raise self._refused("number_cannot_be_negative_value", text)
        return value

    def _refused(self, problem: str, text: str) -> FieldsError:
        explanation = f"{explain(problem)}; given: {text!r}"
        return FieldsError({self.flags[-1]: [problem]}, FieldsError.FORM, explanation=explanation)


def _count(text: str) -> int:
    if not text.removeprefix("-").isdecimal() or len(text) > 18:
        raise ValueError("expected_int_type")
    return int(text)


def _percent(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text[:4]) > 100:
        raise ValueError("expected_percent_from_0_to_100")
    return int(text)


def _switch(text: str) -> bool:
    if text not in {"on", "off"}:
        raise ValueError("expected_on_or_off")
    return text == "on"


def _read_action(text: str | None) -> str | None:
    """Return what happens to a suspicious version. `keep` is the old name of `mark`. Raises `FieldsError`."""
    if text not in {None, *ACTIONS, "keep"}:
        raise FieldsError({"--on-suspicious": [f"{text!r} is not one of {', '.join(ACTIONS)}"]}, FieldsError.FORM)
    return "mark" if text == "keep" else text


ACTIONS = ("refuse", "mark", "quarantine")
LIMITS = {
    COUNT: Number(
        flags=("-b", "--max-backups-count"),
        metavar="N",
        parse=_count,
        help="maximum number of versions; 0: no limit",
        default="backup.max_versions",
    ),
    ONE: Number(
        flags=("-o", "--max-one-version-size"),
        metavar="SIZE",
        parse=parse_size,
        help="maximum size of a version, e.g. 2GB; a number alone is bytes; 0: no limit",
        default="backup.one_version_max_size",
    ),
    TOTAL: Number(
        flags=("-c", "--max-collection-size"),
        metavar="SIZE",
        parse=parse_size,
        help="maximum size of all versions, e.g. 14GB; a number alone is bytes; 0: no limit",
        default="backup.collection_max_size",
    ),
}
# Keyed by the field names of `Guards`.
GUARDS = {
    "min_retention": Number(
        flags=("--min-retention",),
        metavar="TIME",
        parse=parse_duration,
        help="a younger version is never deleted, e.g. 48h or 7d",
        default="off",
    ),
    "min_version_size": Number(
        flags=("--min-version-size",),
        metavar="SIZE",
        parse=parse_size,
        help="a smaller version is suspicious, e.g. an empty dump has 20 bytes",
        default="off",
    ),
    "max_shrink_percent": Number(
        flags=("--max-shrink-percent",),
        metavar="N",
        parse=_percent,
        help="a version is suspicious if it is more than N percent smaller than the last ones; 0: off",
        default=str(SAFE_GUARDS.max_shrink_percent),
    ),
    "max_growth_percent": Number(
        flags=("--max-growth-percent",),
        metavar="N",
        parse=_count,
        help="a version is suspicious if it is more than N percent larger than the last ones; 0: off",
        default="off",
    ),
    "expects_kind": Number(
        flags=("--expects-kind",),
        metavar="on|off",
        parse=_switch,
        help="on: a version is suspicious if it is of another format, program or database than the last ones",
        default="on",
    ),
    "expects_change": Number(
        flags=("--expects-change",),
        metavar="on|off",
        parse=_switch,
        help="on: a version is suspicious if its content is that of an earlier day again",
        default="off",
    ),
    "max_decline_percent": Number(
        flags=("--max-decline-percent",),
        metavar="N",
        parse=_percent,
        help="a version is suspicious if the sizes of the last thirty nights decline by more than N percent; 0: off",
        default="off",
    ),
    "max_unchanged": Number(
        flags=("--max-unchanged",),
        metavar="TIME",
        parse=parse_duration,
        help="a version is suspicious if its content has not changed for so many days, e.g. 7d; 0: off",
        default="off",
    ),
}


def add_numbers(parser: argparse.ArgumentParser, *, short_names: str = "boc", shows_defaults: bool = True) -> None:
    """Add the options. Their values are parsed later, with the rules of the API.

    `short_names` are the letters that are options, too: -c is that of columns where a command has a format.
    """
    for number in (*LIMITS.values(), *GUARDS.values()):
        names = [name for name in number.flags if name.startswith("--") or name[1:] in short_names]
        default = f"; default: {number.default}" if shows_defaults else ""
        parser.add_argument(*names, metavar=number.metavar, help=number.help + default)
    parser.add_argument(
        "--on-suspicious",
        metavar="ACTION",
        help="quarantine a suspicious version: nothing is deleted for it; refuse it; or mark: add it if no other "
        f"version has to be deleted{f'; default: {SAFE_GUARDS.action}' if shows_defaults else ''}",
    )


def read_limits(arguments: argparse.Namespace) -> dict[str, int]:
    """Return the given limits by field."""
    limits = {name: number.read(arguments) for name, number in LIMITS.items()}
    return {field: value for field, value in limits.items() if value is not None}


def read_guards(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given guards."""
    guards = {name: number.read(arguments) for name, number in GUARDS.items()}
    guards["action"] = _read_action(arguments.on_suspicious)
    return {name: value for name, value in guards.items() if value is not None}


def add_expectation(parser: argparse.ArgumentParser) -> None:
    """Add the options about expected backups, labels, and the storages."""
    parser.add_argument(
        "--expected-every",
        metavar="TIME",
        help="a backup is expected each 1d, 6h, or at '0 2 * * * Europe/Warsaw'; '': none is expected",
    )
    parser.add_argument(
        "--grace", metavar="TIME", help="how late a backup may be, e.g. 30m; default: a tenth of the time, at least 10m"
    )
    parser.add_argument(
        "--label", action="append", metavar="TEXT", help="may be repeated; replaces all labels; '': none"
    )
    parser.add_argument(
        "--storage", metavar="NAME", help="where its versions are stored, see `frepo storages`; '': the first storage"
    )
    parser.add_argument(
        "--mirror", metavar="NAME", help="the storage with their second copies; none: nowhere; '': that of the service"
    )
    parser.add_argument(
        "--compact-group",
        metavar="NAME",
        help="store versions as the difference to those of other collections that name the same group, too; '': no",
    )
    parser.add_argument(
        "--trash-keep",
        metavar="TIME",
        help="how long what leaves it stays in the trash, 1h to trash.keep, e.g. 1d; '': as long as that",
    )


def read_change(arguments: argparse.Namespace, *, password: str | None) -> "CollectionChange":
    """Return the values of a collection that are given. Raises `FieldsError`."""
    from frepo_core.services.backups.rows.collection_change import CollectionChange

    return CollectionChange(
        limits=read_limits(arguments),
        guards=read_guards(arguments),
        strategy=arguments.strategy,
        strategy_options=read_options(arguments.strategy_options),
        description=check_length("--description", arguments.description, 1024),
        filename=None if arguments.filename is None else _check_filename(arguments.filename),
        password=check_length("--password", password, 250),
        expected_every=arguments.expected_every,
        grace=arguments.grace,
        # An empty list removes all.
        labels=None if arguments.label is None else [label for label in arguments.label if label],
        storage=arguments.storage,
        mirror=arguments.mirror,
        compact_group=arguments.compact_group,
        trash_keep=arguments.trash_keep,
    )


def read_options(text: str | None) -> dict[str, Any] | None:
    """Return the options of a strategy. Raises `FieldsError` if they are not a JSON object."""
    if text is None:
        return None
    try:
        options = json.loads(text)
    except ValueError as error:
        raise FieldsError({"--strategy-options": [f"is not JSON: {error}"]}, FieldsError.FORM) from None
    if not isinstance(options, dict):
        raise FieldsError({"--strategy-options": ['write a JSON object, such as {"days": 30}']}, FieldsError.FORM)
    return options


def _check_filename(text: str) -> str:
    """Return the file name of versions. Raises `FieldsError` if it is not valid."""
    try:
        return check_file_name(text)
    except ValueError as error:
        raise FieldsError({"--filename": [str(error)]}, FieldsError.FORM) from None
