"""Commands for collections."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from frepo_core.domain.naming import check_file_name
from frepo_core.errors import FieldsError

from ...base import FrepoCommand, check_id, check_length
from ...limit_options import GUARDS, add_numbers, read_guards, read_limits
from ...terminal import read_password

if TYPE_CHECKING:
    from frepo_core.services.collections.collection_change import CollectionChange
    from frepo_core.services.collections.collections import Collections


class CreateCollection(FrepoCommand):
    """Create a collection; print its id."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options. They match the fields of the API."""
        parser = super().get_parser(prog_name)
        parser.add_argument("-d", "--description", default="", help="a description for people")
        parser.add_argument("-f", "--filename", required=True, help="the file name of its versions, e.g. db.sql.gz")
        add_numbers(parser)
        parser.add_argument("-s", "--strategy", help="the strategy for a full collection; `frepo plugins` lists all")
        parser.add_argument("--strategy-options", metavar="JSON", help="options of the strategy, e.g. '{\"days\": 30}'")
        parser.add_argument("-p", "--password", help="password for new versions; -: read it from stdin")
        parser.add_argument("--id", help="a UUIDv4; default: a random one")
        parser.add_argument(
            "--ignore-error-if-exists", action="store_true", help="exit with 0 if the --id exists already"
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Create the collection, or find the existing one."""
        from frepo_core.services.collections.collection_change import CollectionChange

        change = CollectionChange(
            limits=read_limits(arguments),
            guards=read_guards(arguments),
            strategy=arguments.strategy,
            strategy_options=read_options(arguments.strategy_options),
            description=check_length("--description", arguments.description, 1024),
            filename=check_filename(arguments.filename),
            password=check_length("--password", read_password(arguments.password, self.app.stdin), 250),
            id=check_id(arguments.id),
        )
        collection_id = _make(self.services().collections, change, arguments.ignore_error_if_exists)
        self.answer(collection_id, form=_form(change), response={"collection": {"id": collection_id}})


def _make(collections: "Collections", change: "CollectionChange", may_exist: bool) -> str:
    """Return the id of the new collection, or of the existing one."""
    try:
        return collections.create(change, by=None).id
    except FieldsError as error:
        if change.id is None or not (may_exist and "id_not_unique" in error.fields.get("id", [])):
            raise
        return change.id.lower()


def _form(change: "CollectionChange") -> dict[str, Any]:
    """Return the request as the API accepts it, without the password."""
    return {
        "filename": change.filename,
        "description": change.description,
        "strategy": change.strategy,
        **({"strategyOptions": dict(change.strategy_options)} if change.strategy_options is not None else {}),
        "id": change.id,
        **change.limits,
        **{GUARDS[name].field: str(value) for name, value in change.guards.items() if name in GUARDS},
    }


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


def check_filename(text: str) -> str:
    """Return the file name of versions. Raises `FieldsError` if it is not valid."""
    try:
        return check_file_name(text)
    except ValueError as error:
        raise FieldsError({"--filename": [str(error)]}, FieldsError.FORM) from None
