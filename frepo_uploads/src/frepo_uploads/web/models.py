"""What the service answers about uploads, and what clients send to commit one."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from frepo_core.plugins import ClientCheck, NewRun, NotFoundError
from frepo_core.web import Form, FrepoRequest, PageQuery, Reply, StoredFile, Version, file_answer, version_answer

from ..session import State, Upload

MAX_STATUSES = 32


def _whole_second(value: datetime) -> datetime:
    return value.replace(microsecond=0)


Time = Annotated[datetime, AfterValidator(_whole_second)]


class UploadError(Reply):
    """Why an upload has ended without a version. `code` is the number of the error, if it was refused."""

    message: str
    code: int | None = None


class UploadSender(Reply):
    """The token that began an upload, as it was then."""

    fingerprint: str
    name: str


class UploadStatus(Reply):
    """An upload in parts. Sizes are in bytes.

    - `offset`: how many are on the disk. `length` is null until the client says it.
    - `coding`: the Content-Encoding of its creation, which `offset` and `length` count in; null without one.
    - `hashed`: while it is stored, how many bytes have been hashed; null if that is done or has not begun.
    - `expires_at`: when an open upload ends without a further part; of an ended one, until when this can be read.
    - `version`, `file`: what was stored, as an ordinary upload is answered; null if it was deleted since.
    - `exit_statuses`: of the client's commands, if one has failed.
    - `sender`: only for an administrator, otherwise null.
    """

    id: str
    state: State
    collection: str | None
    filename: str | None
    offset: int
    length: int | None
    coding: str | None
    commit_required: bool
    created_at: Time
    expires_at: Time
    hashed: int | None = None
    version: Version | None = None
    file: StoredFile | None = None
    exit_statuses: list[int] | None = None
    error: UploadError | None = None
    sender: UploadSender | None = None

    @classmethod
    def of(
        cls, upload: Upload, *, expires_at: datetime, hashed: int | None, shows_sender: bool, **stored: Any
    ) -> "UploadStatus":
        """Convert an upload."""
        outcome, creator = upload.outcome or {}, upload.creator
        return cls(
            id=upload.id,
            state=upload.state,
            collection=upload.collection_id,
            filename=upload.metadata.get("filename"),
            offset=upload.offset,
            length=upload.length,
            coding=upload.coding,
            commit_required=upload.commit_required,
            created_at=upload.created_at,
            expires_at=expires_at,
            hashed=hashed,
            exit_statuses=outcome.get("exit_statuses"),
            sender=UploadSender(fingerprint=creator.fingerprint, name=creator.name) if shows_sender else None,
            error=UploadError(message=outcome["message"], code=outcome.get("code")) if "message" in outcome else None,
            **stored,
        )


class UploadPage(Reply):
    """A page of the open uploads of the token, or of all tokens for an administrator."""

    items: list[UploadStatus]
    next: str | None = None


class UploadQuery(PageQuery):
    """Which open uploads."""

    sort: Literal["created_at", "-created_at"] = "created_at"
    collection: str = Field("", max_length=255, description="Only uploads to this collection.")


class CheckForm(Form):
    """What the client found in its content before it encrypted it.

    - `outcome`: `good`, or `broken`, as by a check of the service.
    - `covers`: what a good one has looked at: the end of the container, or that of the content in it.
    """

    outcome: Literal["good", "broken"]
    covers: Literal["container", "content"] = "container"
    message: str = Field("", max_length=200)


class CommitForm(Form):
    """What the client knows of its content; each may be left out.

    - `sha256`, `size`: of the whole content, decoded if it was sent with Content-Encoding. With another one, nothing
      is stored.
    - `sent_size`: of an upload with Content-Encoding, how many bytes were sent.
    - `exit_statuses`: of the commands that made the content. If one is not 0, nothing is stored, and a failed run is
      recorded; if all are 0, the client vouches that the backup is complete.
    - `started_at`, `seconds`, `error_output`, `host`, `client`, `measured`: of the run, as in a report of one.
    - `check`: what the client found before it encrypted the content.
    """

    free_texts: ClassVar[frozenset[str]] = frozenset({"error_output"})

    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    size: int | None = Field(None, ge=0, strict=True)
    sent_size: int | None = Field(None, ge=0, strict=True)
    exit_statuses: list[Annotated[int, Field(ge=-255, le=255, strict=True)]] = Field([], max_length=MAX_STATUSES)
    started_at: AwareDatetime | None = None
    seconds: int | None = Field(None, ge=0, le=10**8, strict=True)
    error_output: str = ""
    host: str = Field("", max_length=255)
    client: str = Field("", max_length=255)
    check: CheckForm | None = None
    measured: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")], float] = Field({}, max_length=50)

    def run(self) -> NewRun | None:
        """Return the run, None if the client says nothing about one."""
        said = self.model_dump(exclude={"sha256", "size", "sent_size"}, exclude_defaults=True)
        if not said:
            return None
        check = None if self.check is None else ClientCheck(**self.check.model_dump())
        return NewRun(**said | {"check": check, "outcome": "failed" if any(self.exit_statuses) else "ok"})


def stored_of(request: FrepoRequest, upload: Upload) -> dict[str, Any]:
    """Return what an upload has stored, as an ordinary upload is answered; empty if it was deleted since."""
    outcome = upload.outcome or {}
    try:
        if "number" in outcome:
            return {"version": version_answer(request, outcome["collection"], outcome["number"]).body}
        if "file" in outcome:
            return {"file": file_answer(request, outcome["file"]).body}
    except NotFoundError:
        pass
    return {}
