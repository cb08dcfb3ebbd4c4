"""The part of a download command that versions and files share."""

import argparse
from typing import TYPE_CHECKING

from ..base import FrepoCommand
from .streams import STDIO, TransferBar, copy, target

if TYPE_CHECKING:
    from frepo_core.services.container import Services
    from frepo_core.services.records import FileRecord


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the content goes."""
    parser.add_argument(
        "--output", metavar="FILE", help="default: the name of the file in the current folder; -: stdout"
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def download(command: FrepoCommand, services: "Services", file: "FileRecord", arguments: argparse.Namespace) -> None:
    """Download a file with a bar, and say where it is. Raises `BytesMissingError` and `FieldsError`."""
    from frepo_core.services.events.actors import console_identity
    from frepo_core.services.files.downloads import refuse_damaged

    refuse_damaged(file.blob)
    name = arguments.output or file.requested_name
    stderr = command.app.stderr
    with services.downloads.open(file.blob) as content, target(name, replaces=arguments.force) as output:
        services.download_events.record(file, by=console_identity(), address="")
        with TransferBar("download", file.blob.size, stderr) as bar:
            copy(content, output, bar)
    if name != STDIO:
        command.say(name)
