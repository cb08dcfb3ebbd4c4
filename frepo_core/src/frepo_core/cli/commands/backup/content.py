"""Commands that upload and download versions."""

import argparse
import re
from typing import Any, BinaryIO, cast

from frepo_core.errors import FieldsError

from ...columns import Moment, Size
from ...outcomes import ActionCommand, Outcome
from ...tables import Record, ShowCommand
from ...transfers.downloading import add_target, check_target, download
from ...transfers.streams import MeteredStream, TransferBar, source


class Upload(ShowCommand):
    """Upload a version from a file, or from stdin with -. Limits, guards and checks apply as for other uploads."""

    examples = (
        "frepo backup:upload shop.sql dump.sql",
        "pg_dump shop | frepo backup:upload shop.sql -",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument("file", help="the file; -: stdin")
        parser.add_argument("--digest", metavar="HEX", help="refuse the content if it has another SHA-256")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Upload the content and return the new version."""
        from frepo_core.services.backups.versions.add_version import AddedVersion
        from frepo_core.services.content.ingest import Incoming
        from frepo_core.services.events.actors import console_identity

        digests = _digests(arguments.digest)
        services = self.services()
        collection = services.collections.find(arguments.id)
        with source(arguments.file) as (stream, size), TransferBar("upload", size, self.app.stderr) as bar:
            incoming = Incoming(
                stream=cast(BinaryIO, MeteredStream(stream, bar)),
                declared_size=size,
                sha256=digests,
            )
            added = services.add_version.add(collection, incoming, by=console_identity())
        assert isinstance(added, AddedVersion)  # only an Idempotency-Key has a recorded answer
        version = added.version
        fields: dict[str, Any] = {
            "collection": collection.id,
            "version": f"v{version.number}",
            "id": version.id,
            "file": version.file.stored_name,
            "size": Size(version.file.blob.size),
            "sha256": version.file.blob.digest,
            "time": Moment(version.created_at),
            "verdict": self.word(version.verdict.value),
            "verdict_reason": version.verdict_reason or "",
            "suspicious": version.is_suspicious,
            "quarantined": version.is_quarantined,
        }
        return tuple(fields), tuple(fields.values())


class Download(ActionCommand):
    """Download a version into a file, or to stdout with -. The file gets its name when all of it is there and right."""

    examples = (
        "frepo backup:download shop.sql",
        "frepo backup:download shop.sql v3 --output - | gunzip | psql shop",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")
        parser.add_argument(
            "version", nargs="?", default="latest", help="latest (default), first, good, v<number> or the version's id"
        )
        add_target(parser)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        check_target(arguments, prints_record=self.prints_record(arguments))
        services = self.services()
        collection = services.collections.find(arguments.id)
        version = services.versions.find(collection.id, arguments.version)
        names = {"collection": collection.id, "version": f"v{version.number}"}
        return download(self, services, version.file, arguments, names)


def _digests(text: str | None) -> tuple[str, ...]:
    """Return the digest, if one is given. An empty one is refused: it may be that of a variable without a value."""
    if text is not None and not re.fullmatch("[0-9a-fA-F]{64}", text):
        raise FieldsError({"--digest": [f"{text!r} is not a SHA-256, which has 64 hexadecimal digits"]})
    return () if text is None else (text,)
