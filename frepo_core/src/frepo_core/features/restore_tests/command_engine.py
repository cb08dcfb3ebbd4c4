"""The command that shows or chooses the engine of a collection."""

import argparse
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from frepo_core.cli.columns import Words
from frepo_core.cli.tables import Record, ShowCommand
from frepo_core.errors import FieldsError

from .choices import Choice
from .feature import RestoreTestServices


class RestoreEngine(ShowCommand):
    """Show how a collection is restore-tested, or choose the engine and what a restored copy must have."""

    examples = ("frepo backup:restore-engine shop.sql", "frepo backup:restore-engine shop.sql --engine postgresql:15")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument(
            "--engine", metavar="NAME", help="an engine of restore_tests.engines; '': that of the labels"
        )
        parser.add_argument(
            "--assertions", metavar="FILE", type=Path, help="JSON as in PUT /api/v1/collections/{id}/restore-test"
        )

    def take_action(self, arguments: argparse.Namespace) -> Record:
        services = self.services()
        collection = services.collections.find(arguments.id)
        own = services.feature(RestoreTestServices)
        choice = own.choices.of(collection.id)
        if arguments.engine is not None or arguments.assertions is not None:
            engine = choice.engine if arguments.engine is None else arguments.engine or None
            asserted = choice.assertions if arguments.assertions is None else _read(arguments.assertions)
            choice = own.choices.set(collection, Choice(engine=engine, assertions=asserted), by=None)
        used = own.choices.engine_of(collection, choice)
        names = ("collection", "engine", "used", "engines", "assertions")
        return names, (collection.id, choice.engine, used, Words(own.engines.names), Words(sorted(choice.assertions)))


def _read(path: Path) -> Any:
    """Return the assertions of a file. Raises `FieldsError`."""
    from .endpoints import RestoreTestValues  # other commands need no models

    try:
        values = RestoreTestValues.model_validate({"assertions": json.loads(path.read_bytes())})
    except (OSError, ValueError, ValidationError) as error:
        raise FieldsError({"--assertions": [f"{path}: {error}"]}) from None
    return {name: one.assertion() for name, one in values.assertions.items()}
