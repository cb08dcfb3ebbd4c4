"""What the command `frepo uploads` shows and ends."""

from collections.abc import Sequence
from datetime import datetime

from frepo_core.plugins import NotFoundError, PluginContext

from .sessions import Sessions


def list_rows(context: PluginContext) -> list[tuple[str, ...]]:
    """Return a row for each open upload, the one that waits longest first."""
    sessions = Sessions(context)
    return [
        (
            upload.id,
            str(upload.state),
            upload.collection_id or upload.metadata.get("filename", ""),
            str(upload.offset),
            "" if upload.length is None else str(upload.length),
            upload.creator.name or upload.creator.fingerprint,
            _shown(upload.created_at),
            _shown(sessions.expires_at(upload)),
        )
        for upload in sessions.uploads.all_open()
    ]


def end_uploads(context: PluginContext, ids: Sequence[str]) -> None:
    """End uploads. Raises `NotFoundError` for one that is not open, and `BusyError` for one that is committed now."""
    sessions = Sessions(context)
    for upload_id in ids:
        upload = sessions.find(upload_id)
        if upload is None or not upload.is_open:
            raise NotFoundError(f"There is no open upload {upload_id!r}: `frepo uploads` lists them")
        upload.require_known()
        sessions.end(upload, by=None, message="the operator has ended it")


def _shown(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="seconds").replace("+00:00", "Z")
