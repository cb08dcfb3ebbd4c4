"""The command that moves the contents of a storage, or of a collection, into another storage."""

import argparse
from typing import Any

from frepo_core.cli.columns import Report, Size
from frepo_core.cli.progress import ProgressBar
from frepo_core.cli.tables import StorageCommand
from frepo_core.errors import FieldsError

from .feature import MoveServices


class Migrate(StorageCommand):
    """Move all blobs from one storage to another, or a collection; may be stopped and run again.

    The service keeps running. With --collection, its versions and what it has in the trash are moved, by the job
    `migrate`, to where its new versions are stored; --to changes that first.
    """

    examples = (
        "frepo storage:migrate --from local --to awss3v3",
        "frepo storage:migrate --collection 1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001 --to local",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--from", dest="source", metavar="NAME", help="e.g. local")
        source.add_argument("--collection", help="move this collection only, given by its id or its name")
        parser.add_argument("--to", dest="target", metavar="NAME", help="e.g. awss3v3; required with --from")
        parser.add_argument("--purge", action="store_true", help="delete moved blobs from the source")

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        from frepo_core.services.content.storages.storage_choice import problem_as_only_place

        from .migration import Migrator

        if arguments.collection is not None:
            return self._move_collection(arguments)
        if arguments.target is None:
            raise FieldsError({"to": ["is required with --from"]})
        if arguments.source == arguments.target:
            raise FieldsError({"to": ["must differ from --from"]})
        services = self.services()
        services.backends.check_name(arguments.source)
        services.backends.check_name(arguments.target)
        if problem := problem_as_only_place(services.backends, arguments.target):
            promote = f"To make it the first one: frepo storage:promote {arguments.target}"
            raise FieldsError({"to": [f"{problem}. {promote}"]})
        migrator = Migrator(services.database, services.backends, source=arguments.source, target=arguments.target)
        with ProgressBar("migrate") as progress:
            report = migrator.run(purge=arguments.purge, progress=progress)
        rows = {
            "moved": report.moved,
            "size": Size(report.size),
            "purged": report.purged,
            "failed": list(report.failed),
        }
        return rows, bool(report.failed)

    def _move_collection(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        from frepo_core.services.backups.rows.collection_change import CollectionChange
        from frepo_core.services.events.actors import console_actor, console_identity
        from frepo_core.services.upkeep.engine.jobs import JobBusyError

        if arguments.purge:
            raise FieldsError({"purge": ["is for --from: of a collection, what nothing else uses is deleted at once"]})
        services = self.services()
        collection = services.collections.find(arguments.collection)
        if arguments.target is not None:
            change = CollectionChange(limits={}, storage=arguments.target)
            services.collections.edit(collection.id, change, by=console_identity())
        services.feature(MoveServices).collections.request(collection.id)
        try:
            result = services.jobs.run("migrate", cause=console_actor().name)
        except JobBusyError as error:
            return {"outcome": self.word("requested"), "waits_for": error.message}, False
        rows = {"outcome": self.word(str(result.outcome))} | Report(result.summary or {}).cells()
        if result.error:
            rows["error"] = result.error
        return rows, bool(result.error or rows.get("failed"))
