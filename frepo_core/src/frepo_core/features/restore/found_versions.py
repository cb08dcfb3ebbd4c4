"""What is asked and said about a version that was found, before it is restored."""

from typing import TYPE_CHECKING

from .restorables import Restorable

if TYPE_CHECKING:
    from frepo_core.services.base.records import FileRecord
    from frepo_core.services.composition.container import Services


def check_download(services: "Services", file: "FileRecord") -> None:
    """Ask the policies about a download. Raises `BytesMissingError`, and the errors of policies."""
    from frepo_core.services.base.records import TrashedFile
    from frepo_core.services.events.actors import console_identity

    services.stored_content.refuse_damaged(file.blob)
    if isinstance(file, TrashedFile):
        services.trash_contents.check_policies(file, by=console_identity())
    else:
        services.policies.check_download(file, by=console_identity())


def describe(found: Restorable) -> str:
    """Return which version it is, from where, and its verdict."""
    where = "" if found.place == "collection" else f", from the {found.place}"
    until = f" (until {found.ends_at:%Y-%m-%d %H:%M} UTC)" if found.ends_at else ""
    at = f"{found.file.created_at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{found.source.name} v{found.number} of {at}{where}{until}: {found.verdict.value}"
