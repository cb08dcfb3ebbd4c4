"""The part of a download command that versions and files share."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frepo_core.domain.saved_names import saved_name
from frepo_core.errors import FieldsError

from ..base import FrepoCommand
from ..columns import Size
from ..outcomes import Outcome
from .streams import STDIO, TransferBar, copy, target

if TYPE_CHECKING:
    from frepo_core.services.base.records import FileRecord
    from frepo_core.services.composition.container import Services


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the content goes."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="default: the name of the file in the current folder; -: stdout"
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def check_target(arguments: argparse.Namespace, *, prints_record: bool) -> None:
    """Raise `FieldsError` if the content and a record would both go to stdout."""
    if arguments.output == STDIO and prints_record:
        raise FieldsError(
            {"--output": ["- writes the content to stdout, where -f and -c write: leave them out, or name a file"]}
        )


def download(
    command: FrepoCommand,
    services: "Services",
    file: "FileRecord",
    arguments: argparse.Namespace,
    names: Mapping[str, Any] | None = None,
) -> Outcome:
    """Download a file with a bar; return where it is, after `names`. Raises `BytesMissingError`, `FieldsError`,
    and `PolicyRefusedError` or `PolicyFailedError` for a version.
    """
    from frepo_core.services.events.actors import console_identity

    services.stored_content.refuse_damaged(file.blob)
    services.policies.check_download(file, by=console_identity())
    name = arguments.output or saved_name(file.requested_name, file.blob.mime)
    stderr = command.app.stderr
    with services.stored_content.open(file.blob) as content, target(name, replaces=arguments.force) as output:
        services.download_events.record(file, by=console_identity(), address="")
        with TransferBar("download", file.blob.size, stderr) as bar:
            copy(content, output, bar)
    record = {
        **(names or {}),
        "file": file.stored_name,
        "output": name,
        "size": Size(file.blob.size),
        "sha256": file.blob.digest,
    }
    return Outcome(text="" if name == STDIO else name, records=[record])
