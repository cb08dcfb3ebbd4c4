"""The commands that edit, replace and revoke a token by its fingerprint."""

import argparse
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from frepo_core.domain.durations import format_duration
from frepo_core.domain.token_expiry import format_expiry, parse_expiry
from frepo_core.errors import FieldsError

from ...base import FrepoCommand
from ...columns import Moment, Words
from ...outcomes import ActionCommand, Outcome
from ...tables import ShowCommand
from .inventory import token_values
from .rotations import RotateTokens, parse_overlap
from .token_options import (
    parse_expires,
    parse_mimes,
    parse_name,
    parse_networks,
    parse_patterns,
    parse_size,
    parse_tags,
    words,
)

FINGERPRINT_HELP = "12 to 16 hexadecimal digits, as in the log"
# The options whose values can be removed, and the values without them.
CLEARABLE: Mapping[str, tuple[str, Any]] = {
    "name": ("name", None),
    "tags": ("tags", []),
    "mimes": ("mimes", []),
    "max-file-size": ("max_file_size", 0),
    "ip-addresses": ("ip_addresses", []),
    "user-agent": ("user_agents", []),
}


class ChangeCommand(FrepoCommand):
    """A command about one token. It takes a fingerprint, because the list of processes would show an id."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("fingerprint", metavar="FINGERPRINT", help=FINGERPRINT_HELP)


class EditToken(ChangeCommand, ShowCommand):
    """Change the name, the expiry and the restrictions of a token; show it. Its roles stay."""

    examples = ("frepo auth:edit 3f9c2a71d0be --name db7 --expires '+90 days' --clear tags",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the options. A missing option keeps its value."""
        super().add_arguments(parser)
        parser.add_argument("--name", help="what people call the token")
        parser.add_argument("--expires", metavar="WHEN", help="'never', '+30 minutes', '2030-01-01 12:00:00'")
        parser.add_argument("--tags", type=words, help="tags that the token is restricted to")
        parser.add_argument("--mimes", type=words, help="MIME types that the token may upload, e.g. image/png")
        parser.add_argument("--max-file-size", metavar="SIZE", help="e.g. 500MB; 0: no limit")
        parser.add_argument("--ip-addresses", type=words, help="addresses and networks from which it may be used")
        parser.add_argument(
            "--user-agent", action="append", metavar="PATTERN", help="a User-Agent that may use it; may be repeated"
        )
        parser.add_argument(
            "--clear", type=words, default=[], metavar="NAMES", help=f"remove these: {', '.join(CLEARABLE)}"
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        """Edit the token, and return its values."""
        values = _values(arguments)
        services = self.services()
        if arguments.expires is not None:
            default = services.settings.token_expiration_time
            values["expires_at"] = parse_expiry(arguments.expires, now=datetime.now(UTC), default=default)
        if not values:
            raise FieldsError({"--name": ["or another option is needed: nothing is to be changed"]})
        shown = token_values(services.token_changes.edit(arguments.fingerprint, values))
        return tuple(shown), tuple(shown.values())


class RotateToken(ActionCommand):
    """Replace a token by one with the same rights and collections; print the new id. The old one ends after a time.

    With --all, replace the tokens on the lists of all collections whose names match --collection. Their secrets are
    written to the file of --secrets before the first is made. A run that was interrupted is repeated with the same
    file. Tokens of administrators are left out.
    """

    examples = (
        "frepo auth:rotate 3f9c2a71d0be --overlap 2d -f json",
        "frepo auth:rotate --all --collection 'db*' --secrets new-tokens.csv --overlap 7d",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("fingerprint", metavar="FINGERPRINT", nargs="?", help=FINGERPRINT_HELP)
        parser.add_argument(
            "--overlap", default="1d", metavar="TIME", help="how long the old token stays valid, e.g. 6h; default: 1d"
        )
        parser.add_argument("--all", action="store_true", help="all tokens of the collections of --collection")
        parser.add_argument(
            "--collection", action="append", metavar="PATTERN", help="names of collections, e.g. 'db*'; may be repeated"
        )
        parser.add_argument("--secrets", metavar="FILE", help="with --all: the CSV file to which new tokens are added")
        parser.add_argument("--dry-run", action="store_true", help="with --all: show what would be replaced")

    def run(self, arguments: argparse.Namespace) -> int:
        """Replace one token, or with --all those of a fleet, in a table. Raises `FieldsError` for both or neither."""
        if not arguments.all:
            if arguments.collection or arguments.secrets or arguments.dry_run:
                raise FieldsError({"--all": ["is missing: --collection, --secrets and --dry-run are for all tokens"]})
            if not arguments.fingerprint:
                raise FieldsError({"FINGERPRINT": ["is missing: name a token, or write --all and --collection"]})
            return int(super().run(arguments))
        if arguments.fingerprint:
            raise FieldsError({"FINGERPRINT": ["names one token, and --all means all: write one of them"]})
        fleet = RotateTokens(self.app, self.app_args)
        defaults = vars(fleet.get_parser("auth:rotate").parse_args([]))
        given = {name: value for name, value in vars(arguments).items() if value is not None or name not in defaults}
        return fleet.run(argparse.Namespace(**(defaults | given)))

    def act(self, arguments: argparse.Namespace) -> Outcome:
        overlap = parse_overlap(arguments.overlap)
        done = self.services().token_changes.rotate(arguments.fingerprint, overlap)
        response = {
            "tokenId": done.id,
            "fingerprint": done.new.fingerprint,
            "expires": format_expiry(done.new.expires_at),
            "replaces": done.old.fingerprint,
            "replacedEndsAt": format_expiry(done.ends_at),
            "alsoEnded": list(done.also_ended),
        }
        form = {"fingerprint": arguments.fingerprint, "overlap": format_duration(overlap) or "0s"}
        record = {
            "id": done.id,
            "fingerprint": done.new.fingerprint,
            "expires_at": Moment(done.new.expires_at),
            "replaces": done.old.fingerprint,
            "replaced_ends_at": Moment(done.ends_at),
            "also_ended": Words(done.also_ended),
        }
        if done.also_ended:
            # Standard output has the id alone, which scripts read.
            others = ", ".join(done.also_ended)
            self.tell_people(f"{others} end after the overlap, too: the old token has made them by replacing itself")
        return Outcome(text=self.answer_text(done.id, form=form, response=response), records=[record])


class RevokeToken(ChangeCommand, ActionCommand):
    """Revoke the token with this fingerprint, which the log shows."""

    examples = ("frepo auth:revoke 3f9c2a71d0be",)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        revoked = self.services().token_changes.revoke(arguments.fingerprint)
        others = [one for one in revoked.chain if one != revoked.fingerprint]
        name = f" ({revoked.name})" if revoked.name else ""
        text = f"Token {revoked.fingerprint}{name} was revoked. Its roles were: {', '.join(revoked.roles)}"
        if others:
            text += f"\nSo were the tokens of its chain: {', '.join(others)}"
        if revoked.setting:
            text += f"\nChange {revoked.setting}, too: `frepo install` would generate this token again"
        record = {
            "fingerprint": revoked.fingerprint,
            "name": revoked.name,
            "roles": Words(revoked.roles),
            "setting": revoked.setting,
            "revoked": True,
            "also_revoked": Words(others),
        }
        return Outcome(text=text, records=[record])


def _values(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the given values, except the expiry, under the names of the service."""
    parsers: dict[str, tuple[Any, Callable[[Any], Any]]] = {
        "name": (arguments.name, parse_name),
        "tags": (arguments.tags, parse_tags),
        "mimes": (arguments.mimes, parse_mimes),
        "max_file_size": (arguments.max_file_size, parse_size),
        "ip_addresses": (arguments.ip_addresses, parse_networks),
        "user_agents": (arguments.user_agent, parse_patterns),
    }
    parse_expires(arguments.expires)
    values = {name: parse(value) for name, (value, parse) in parsers.items() if value is not None}
    for option in arguments.clear:
        if option not in CLEARABLE:
            raise FieldsError({"--clear": [f"{option!r} is not one of {', '.join(CLEARABLE)}"]})
        name, empty = CLEARABLE[option]
        if name in values:
            raise FieldsError({"--clear": [f"{option} is given and cleared"]})
        values[name] = empty
    return values
