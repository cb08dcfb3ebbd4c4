"""The commands about one-time codes that `fleet:create --codes` and `/api/v1/enrolments` have made."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from frepo_core.cli.columns import Moment, Words
from frepo_core.cli.outcomes import ActionCommand, Outcome
from frepo_core.cli.tables import ListCommand

from .feature import EnrolmentServices

if TYPE_CHECKING:
    from .codes import CodeRecord, EnrolmentCodes

COLUMNS = ("Id", "Host", "State", "Collections", "Expires", "Used", "Token", "Created", "Created by")
PAGE = 500


class ListEnrolments(ListCommand):
    """List the one-time codes: which hosts have not used theirs yet, and which token the others have got."""

    long = frozenset({"Collections", "Created", "Created by"})
    examples = ("frepo enrolment:list", "frepo enrolment:list --long -f json")

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return a row for each code, by the name of the host."""
        return COLUMNS, [_row(one) for one in _find(self.services().feature(EnrolmentServices).codes)]


class RevokeEnrolment(ActionCommand):
    """Revoke a one-time code. A token that a host has got with it stays: `auth:revoke` deletes that."""

    examples = ("frepo enrolment:revoke 5b0c7f0e-5a0f-4c39-9a43-1f0f7c1d2a11",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="the id that `frepo enrolment:list` shows; not the code itself")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        revoked = self.services().feature(EnrolmentServices).codes.revoke(arguments.id)
        text = f"The code of {revoked.name} was revoked"
        if revoked.token:
            text += f". It had been used: `frepo auth:revoke {revoked.token}` revokes the token that was made with it"
        record = {"id": revoked.id, "name": revoked.name, "token": revoked.token, "revoked": True}
        return Outcome(text=text, records=[record])


def _find(codes: "EnrolmentCodes") -> "Iterator[CodeRecord]":
    from frepo_core.services.base.keyset import PageRequest

    after = None
    while True:
        page = codes.page(PageRequest(limit=PAGE, sort="name", after=after), by=None)
        yield from page.items
        after = page.next
        if after is None:
            return


def _row(one: "CodeRecord") -> tuple[Any, ...]:
    return (
        one.id,
        one.name,
        one.state,
        Words([f"{collection.name} ({collection.id})" for collection in one.collections]),
        Moment(one.expires_at),
        Moment(one.used_at),
        one.token,
        Moment(one.created_at),
        one.created_by,
    )
