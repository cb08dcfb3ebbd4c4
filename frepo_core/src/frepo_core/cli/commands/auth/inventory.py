"""The commands that answer which tokens exist, and whose fingerprint is in the log."""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from frepo_core.domain.durations import parse_duration
from frepo_core.errors import FieldsError, NotFoundError

from ...columns import Moment, Words
from ...tables import ListCommand, ShowCommand
from .token_options import parse_roles

if TYPE_CHECKING:
    from frepo_core.services.access.former_tokens import FormerToken
    from frepo_core.services.access.token_inventory import TokenInventory, TokenSearch
    from frepo_core.services.access.token_records import ListedCollection, TokenRecord

COLUMNS = ("Fingerprint", "Name", "Roles", "Collections", "Last used", "From", "Expires", "Created", "Created by")
SORTS = ("name", "created_at", "last_used_at", "expires_at")
PAGE = 500


class ListTokens(ListCommand):
    """List the tokens: what each may do, on which collections, and when and from where it was used last."""

    long = frozenset({"Roles", "Collections", "From", "Created", "Created by"})

    examples = ("frepo auth:list --unused-since 90d --sort last_used_at -f csv",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--match", default="", metavar="TEXT", help="only with this in the name or the fingerprint")
        parser.add_argument("--role", help="only tokens that have this role themselves")
        parser.add_argument("--collection", default="", help="only tokens that this collection, an id or a name, lists")
        parser.add_argument("--unused-since", metavar="TIME", help="only tokens not used since, e.g. 90d or 2030-01-31")
        parser.add_argument(
            "--sort",
            default="name",
            choices=[*SORTS, *(f"-{name}" for name in SORTS)],
            metavar="ORDER",
            help=f"{', '.join(SORTS)}; --sort=-name reverses it; default: name",
        )

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        search = _search(arguments)
        if arguments.collection:
            search = replace(search, collection=self.services().collections.find(arguments.collection).id)
        inventory = self.services().token_inventory
        if inventory.lacks_admin_token():
            print(
                "security.admin_token is set, but its token does not exist: run `frepo install`", file=self.app.stderr
            )
        return COLUMNS, [_row(token) for token in _find(inventory, search, arguments.sort)]


class ShowToken(ShowCommand):
    """Show the token with this name or fingerprint, which the log shows; for a deleted one, what the events know."""

    examples = ("frepo auth:show db7", "frepo auth:show 3f9c2a71d0be")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Define the argument. It is no id, because the list of processes would show it."""
        meaning = "its name, or 12 to 16 hexadecimal digits, as in the log"
        parser.add_argument("token", metavar="NAME|FINGERPRINT", help=meaning)

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], tuple[Any, ...]]:
        from frepo_core.services.access.former_tokens import find_former

        inventory = self.services().token_inventory
        fingerprint = _find_named(inventory, arguments.token) or arguments.token
        try:
            shown = token_values(inventory.show(fingerprint, by=None))
        except FieldsError as error:
            problem = "no token has this name, and a fingerprint has 12 to 16 hexadecimal digits, as logs show it"
            raise FieldsError({"token": [problem]}, remedy=error.remedy) from None
        except NotFoundError:
            former = find_former(self.assemble().database, fingerprint)
            if former is None:
                raise
            shown = _former_values(former)
        return tuple(shown), tuple(shown.values())


def token_values(token: "TokenRecord") -> dict[str, Any]:
    """Return all values of a token under their names in the API, formatted for people and for programs."""
    is_over = token.expires_at is not None and token.expires_at <= datetime.now(UTC)
    return {
        "fingerprint": token.fingerprint,
        "state": "expired" if is_over else "valid",
        "name": token.name,
        "roles": Words(token.roles),
        "tags": Words(token.tags),
        "mime_types": Words(token.mimes),
        "max_file_size": token.max_file_size,
        "ip_addresses": Words(token.ip_addresses),
        "user_agents": Words(token.user_agents),
        "expires_at": Moment(token.expires_at),
        "created_at": Moment(token.created_at),
        "created_by": token.created_by,
        "created_by_name": token.created_by_name,
        "last_used_at": Moment(token.last_used_at),
        "last_used_from": token.last_used_from,
        "collections_count": token.collections_count,
        "collections": Words([_describe(collection) for collection in token.collections]),
        "setting": token.setting,
        "chain": Words(token.chain),
    }


def _former_values(token: "FormerToken") -> dict[str, Any]:
    return {
        "fingerprint": token.fingerprint,
        "state": token.state or "deleted",
        "name": token.name,
        "roles": Words(token.roles),
        "created_at": Moment(token.created_at),
        "created_by": token.created_by,
        "ended_at": Moment(token.ended_at),
        "ended_by": token.ended_by,
    }


def _search(arguments: argparse.Namespace) -> "TokenSearch":
    from frepo_core.services.access.token_inventory import TokenSearch

    return TokenSearch(
        text=arguments.match,
        role=parse_roles([arguments.role], "--role")[0] if arguments.role else None,
        unused_since=_moment(arguments.unused_since) if arguments.unused_since else None,
    )


def _find(inventory: "TokenInventory", search: "TokenSearch", sort: str) -> "Iterator[TokenRecord]":
    """Yield all tokens that a search finds, page by page."""
    from frepo_core.services.base.keyset import PageRequest

    after = None
    while True:
        request = PageRequest(limit=PAGE, sort=sort.removeprefix("-"), is_descending=sort.startswith("-"), after=after)
        page = inventory.page(search, request, by=None)
        yield from page.items
        after = page.next
        if after is None:
            return


def _find_named(inventory: "TokenInventory", name: str) -> str | None:
    """Return the fingerprint of the token with a name, None if there is none. Raises `FieldsError` if there are more.

    The message has no value: somebody may have written the id of a token, which is a secret.
    """
    from frepo_core.services.access.token_inventory import TokenSearch

    found = [token.fingerprint for token in _find(inventory, TokenSearch(text=name), "name") if token.name == name]
    if len(found) > 1:
        raise FieldsError({"token": [f"{len(found)} tokens have this name, write a fingerprint: {', '.join(found)}"]})
    return found[0] if found else None


def _row(token: "TokenRecord") -> tuple[Any, ...]:
    shown = [_describe(collection) for collection in token.collections]
    if more := token.collections_count - len(shown):
        shown.append(f"and {more} more")
    return (
        token.fingerprint,
        token.name,
        Words(token.roles),
        Words(shown),
        Moment(token.last_used_at),
        token.last_used_from,
        Moment(token.expires_at),
        Moment(token.created_at),
        token.created_by,
    )


def _describe(collection: "ListedCollection") -> str:
    return f"{collection.name} ({collection.id})"


def _moment(text: str) -> datetime:
    with contextlib.suppress(ValueError):
        return datetime.now(UTC) - parse_duration(text)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise FieldsError(
            {"--unused-since": [f"{text!r} is neither a length of time such as 90d nor a time"]}
        ) from None
    return given if given.tzinfo else given.replace(tzinfo=UTC)
