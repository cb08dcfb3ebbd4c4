"""Commands that upload and download files."""

import argparse
from pathlib import Path
from typing import BinaryIO, cast

from frepo_core.domain.naming import check_file_name
from frepo_core.errors import FieldsError

from ...base import check_length
from ...outcomes import ActionCommand, Outcome
from ...tables import Record, ShowCommand
from ...terminal import read_password
from ...transfers.downloading import add_target, check_target, download
from ...transfers.streams import STDIO, MeteredStream, TransferBar, source
from .files import show, tags_of


class UploadFile(ShowCommand):
    """Upload a file, or stdin with -. A file with the same content that exists already is shown instead."""

    examples = (
        "frepo file:upload holiday.jpg --tag beach --public",
        "tar c photos | frepo file:upload - --name photos.tar",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", help="the file; -: stdin")
        parser.add_argument("--name", help="the name in the service; default: that of the file")
        parser.add_argument("--tag", action="append", default=[], help="may be repeated")
        parser.add_argument("--public", action="store_true", help="list it to everybody who may list files")
        parser.add_argument("--password", help="required for downloads; -: read it from stdin")
        parser.add_argument(
            "--overwrite",
            action="store_true",
            help="if a file with the same content exists, change its tags, password and --public",
        )

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Upload the content and return the file."""
        from frepo_core.services.content.ingest import Incoming
        from frepo_core.services.events.actors import console_identity
        from frepo_core.services.files.files import AddedFile, NewFile

        if arguments.file == STDIO == arguments.password:
            raise FieldsError({"--password": ["- would read the same stdin as the content: upload from a file"]})
        new = NewFile(
            name=_name(arguments),
            tags=tags_of(arguments.tag),
            public=arguments.public,
            password=check_length("--password", read_password(arguments.password, self.app.stdin), 250) or "",
            overwrite=arguments.overwrite,
        )
        services = self.services()
        with source(arguments.file) as (stream, size), TransferBar("upload", size, self.app.stderr) as bar:
            incoming = Incoming(stream=cast(BinaryIO, MeteredStream(stream, bar)), declared_size=size)
            added = services.files.add(new, incoming, by=console_identity())
        assert isinstance(added, AddedFile)  # only an Idempotency-Key has a recorded answer
        names, values = show(services, added.file)
        return (*names, "existed"), (*values, added.existed)


class DownloadFile(ActionCommand):
    """Download a file, or to stdout with --output -. It gets its name when all of it is there and right."""

    examples = (
        "frepo file:download 2cf24dba5fholiday.jpg",
        "frepo file:download 2cf24dba5fphotos.tar --output - | tar t",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name", help="the stored name of the file, as file:list shows it")
        add_target(parser)

    def act(self, arguments: argparse.Namespace) -> Outcome:
        check_target(arguments, prints_record=self.prints_record(arguments))
        services = self.services()
        return download(self, services, services.files.find(arguments.name), arguments)


def _name(arguments: argparse.Namespace) -> str:
    """Return the name of the new file. Raises `FieldsError` if it is missing or not valid."""
    if arguments.name is None and arguments.file == STDIO:
        raise FieldsError({"--name": ["is required for a content from stdin"]})
    try:
        return check_file_name(arguments.name if arguments.name is not None else Path(arguments.file).name)
    except ValueError as error:
        raise FieldsError({"--name": [str(error)]}) from None
