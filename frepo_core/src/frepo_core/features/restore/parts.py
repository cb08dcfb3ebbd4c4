"""`frepo restore --table` and `--path`: one table or one folder of a version, by a plug-in."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from frepo_core.cli import FrepoCommand
from frepo_core.cli.columns import Size
from frepo_core.cli.transfers.streams import STDIO, TransferBar, target
from frepo_core.domain.saved_names import saved_name
from frepo_core.errors import ConfigurationError, FieldsError
from frepo_core.plugins import OpenedContent

from .found_versions import check_download, describe
from .loading_lines import HEAD, loading_line
from .restorables import Restorable

if TYPE_CHECKING:
    from frepo_core.plugins import PartRestorer, PluginContext
    from frepo_core.services.composition.container import Services


def restore_part(command: FrepoCommand, services: "Services", found: Restorable, arguments: argparse.Namespace) -> None:
    """Restore a part of a version. Raises `ConfigurationError` if no package can, and `NotFoundError`."""
    from frepo_core.services.content.seekable_content import seekable_content
    from frepo_core.services.events.actors import console_identity

    file = found.file
    check_download(services, file)
    owned = next(iter(services.plugins.part_restorers.values()), None)
    if owned is None:
        raise ConfigurationError("No installed package restores a part of a backup: install all of frepo")
    with seekable_content(partial(services.stored_content.open, file.blob), file.blob.size) as stream:
        services.download_events.record(file, by=console_identity(), address="")
        content = OpenedContent(file=stream, size=file.blob.size, sha256=file.blob.digest, name=file.requested_name)
        context = services.contexts[owned.plugin.name]
        if arguments.table:
            _write_table(command, owned.spec, content, context, found, arguments)
        else:
            name = saved_name(file.requested_name, file.blob.mime).partition(".")[0]
            folder = Path(arguments.output or name)
            for line in (describe(found), *_write_path(owned.spec, content, context, folder, arguments)):
                command.say(line)


def _write_table(
    command: FrepoCommand,
    restorer: "PartRestorer",
    content: OpenedContent,
    context: "PluginContext",
    found: Restorable,
    arguments: argparse.Namespace,
) -> None:
    part = restorer.table(content, arguments.table, context)
    name, done = arguments.output or part.name, 0
    with target(name, replaces=arguments.force) as output, TransferBar("restore", part.size, command.app.stderr) as bar:
        for chunk in part.chunks:
            output.write(chunk)
            bar.add(len(chunk))
            done += len(chunk)
    if name != STDIO:
        with Path(name).open("rb") as restored:
            head = restored.read(HEAD)
        command.say(describe(found))
        command.say(f"Restored the table {arguments.table} into {name}, {Size(done).human_readable()}")
        if line := loading_line(head, name):
            command.say(f"Load it: {line}")


def _write_path(
    restorer: "PartRestorer",
    content: OpenedContent,
    context: "PluginContext",
    folder: Path,
    arguments: argparse.Namespace,
) -> list[str]:
    """Write into a new folder, or an empty one; return sentences about it."""
    if arguments.output == STDIO:
        raise FieldsError({"--output": ["--path writes into a folder: name one that does not exist"]})
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FieldsError({"--output": [f"{str(folder)!r} exists, and nothing is written over: name a new folder"]})
    was_there = folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return [*restorer.path(content, arguments.path, folder, context)]
    except OSError as error:
        raise FieldsError({"--output": [f"{str(folder)!r} cannot be written: {error.strerror}"]}) from error
    finally:
        if not was_there and not any(folder.iterdir()):
            folder.rmdir()
