"""An upload in parts as a state machine: which states it has, and which request is allowed in which."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from frepo_core.plugins import EndpointError, Identity

# An outcome can be read for this long.
KEEP_OUTCOME = timedelta(hours=24)
# Without a byte for so long, its client may have given it up and begun again.
SILENCE = timedelta(seconds=10)


class State(StrEnum):
    """Where an upload is. `complete`: all bytes are there, and the client has to ask for the commit."""

    CREATED = "created"
    RECEIVING = "receiving"
    COMPLETE = "complete"
    COMMITTING = "committing"
    COMMITTED = "committed"
    FAILED = "failed"
    ABORTED = "aborted"
    EXPIRED = "expired"


OPEN = frozenset({State.CREATED, State.RECEIVING, State.COMPLETE, State.COMMITTING})
TAKES_PARTS = frozenset({State.CREATED, State.RECEIVING})
COMMITS = frozenset({State.COMMITTING})
_ENDS = frozenset({State.ABORTED, State.EXPIRED, State.FAILED})
NEXT: Mapping[State, frozenset[State]] = {
    State.CREATED: frozenset({State.RECEIVING, State.COMPLETE, State.COMMITTING}) | _ENDS,
    State.RECEIVING: frozenset({State.RECEIVING, State.COMPLETE, State.COMMITTING}) | _ENDS,
    State.COMPLETE: frozenset({State.COMMITTING}) | _ENDS,
    # After a failure that passes, what has committed itself waits for its last part again.
    State.COMMITTING: frozenset({State.RECEIVING, State.COMPLETE, State.COMMITTED, State.FAILED}),
}


class GoneError(EndpointError):
    """The upload has ended: it was refused, aborted, or it has expired."""

    def __init__(self, message: str, code: int | None = None) -> None:
        """`code` is the number of the error that refused the upload."""
        super().__init__(410, message, context=None if code is None else {"code": code})


class BusyError(EndpointError):
    """Another request writes to the upload, or it is being committed; the client asks again later."""

    def __init__(self, status: int, message: str, *, retry_after: int) -> None:
        super().__init__(status, message, headers={"Retry-After": str(retry_after)})


class OffsetError(EndpointError):
    """A part does not begin where the upload ends (tus 1.0, PATCH)."""

    def __init__(self, offset: int, sent: int) -> None:
        super().__init__(
            409,
            f"The part begins at byte {sent}, but the upload has {offset} bytes: ask with HEAD, and continue there",
            context={"offset": offset},
        )


@dataclass(frozen=True, kw_only=True)
class Upload:
    """An upload in parts. Sizes are in bytes, times in UTC (aware).

    - `offset`: how many bytes are acknowledged, which are on the disk. `length` is None until the client says it.
    - `epoch`: rises whenever another request takes the upload over from one that is silent.
    - `place`: the id of the folder that has its file. `creator`: the token that made it, as it was then.
    - `collection_id` is None for a plain file. `metadata` is what the client has sent and the service uses.
    - `last_number`: that of the collection when the upload was made. `digest`: its SHA-256, once it is being committed.
    - `silent_since`: when its client sent nothing for `SILENCE` for the first time; None: never.
    - `coding`: how the bytes are compressed, `gzip` or `zstd`, which the commit undoes; None if they are the content.
    - `outcome`: what the client is told, once the upload has ended. `key`: the Idempotency-Key of its creation.
    """

    id: str
    place: str
    creator: Identity
    collection_id: str | None
    length: int | None
    created_at: datetime
    touched_at: datetime
    metadata: Mapping[str, str] = field(default_factory=dict)
    commit_required: bool = False
    last_number: int | None = None
    offset: int = 0
    epoch: int = 0
    state: State = State.CREATED
    digest: str | None = None
    ended_at: datetime | None = None
    silent_since: datetime | None = None
    outcome: Mapping[str, Any] | None = None
    key: str | None = None
    coding: str | None = None

    @property
    def owner(self) -> str:
        """The first token of the chain of rotations to which the upload belongs."""
        return self.creator.client

    def heard(self, at: datetime) -> "Upload":
        """Return it when a part begins, which may end a silence."""
        is_silent = self.silent_since is None and at - self.touched_at > SILENCE
        return replace(self, silent_since=self.touched_at) if is_silent else self

    @property
    def is_open(self) -> bool:
        """Whether it can still become a version."""
        return self.state in OPEN

    @property
    def held(self) -> int:
        """How many bytes it holds of the room: what was announced counts as if it were here."""
        return max(self.offset, self.length or 0) if self.is_open else 0

    def expires_at(self, expire: timedelta) -> datetime:
        """Return when it ends without a further part, or until when its outcome can be read."""
        if self.ended_at is not None:
            return self.ended_at + KEEP_OUTCOME
        last = self.last_end(expire)
        return self.touched_at + expire if last is None else min(self.touched_at + expire, last)

    def last_end(self, expire: timedelta) -> datetime | None:
        """Return when it ends whatever comes: so long after the token that made it; None if that does not expire."""
        ends_at = self.creator.expires_at
        return None if ends_at is None else ends_at + expire

    def is_late(self, moment: datetime, expire: timedelta) -> bool:
        """Return whether it takes nothing any more at a time in UTC, because its token has expired long ago."""
        last = self.last_end(expire)
        return last is not None and moment > last and self.is_open and self.state not in COMMITS

    def require_known(self) -> None:
        """Raise `GoneError` unless it is open or was committed, or `BusyError` while it is being committed."""
        if self.state is State.COMMITTING:
            raise BusyError(423, "The upload is being stored now: ask again", retry_after=2)
        if self.state not in OPEN | {State.COMMITTED}:
            raise GoneError(self._end(), (self.outcome or {}).get("code"))

    @property
    def has_failed_run(self) -> bool:
        """Whether the client has said that its command failed."""
        return self.state is State.FAILED and "exit_statuses" in (self.outcome or {})

    def require_open(self) -> None:
        """Raise `GoneError` for an upload that has ended, and `BusyError` while it is being committed."""
        self.require_known()
        if self.state is State.COMMITTED:
            raise GoneError("The upload is stored already")

    def require_part(self, offset: int, length: int | None) -> "Upload":
        """Return the upload with the length that a PATCH announces. Raises an `EndpointError` if it takes no part."""
        self.require_known()
        if length is not None and self.length not in {None, length}:
            raise EndpointError(400, f"The upload has the length {self.length}, which cannot change")
        if offset != self.offset:
            raise OffsetError(self.offset, offset)
        known = replace(self, length=self.length if length is None else length)
        if known.length is not None and known.length < self.offset:
            raise EndpointError(400, f"The upload has {self.offset} bytes already, more than the announced length")
        return known

    def require_commit(self, size: int | None) -> "Upload":
        """Return the upload to commit. Raises an `EndpointError` if the client cannot ask for that now.

        The size of what was sent, as the client says it, is the length, if it has not said that before.
        """
        self.require_known()
        if not self.commit_required:
            raise EndpointError(409, "The last part of this upload commits it: it was made without Upload-Commit")
        if self.length is None and size == self.offset:
            return replace(self, length=size)
        if self.state in TAKES_PARTS:
            raise EndpointError(
                409,
                f"The upload is not complete: {self.offset} bytes of {self.length or 'an unknown length'} are there",
                context={"offset": self.offset},
            )
        return self

    def moved_to(self, state: State, **changes: Any) -> "Upload":
        """Return it in another state. Raises `ValueError` for a step that the state machine does not have."""
        if state not in NEXT.get(self.state, frozenset()):
            raise ValueError(f"an upload cannot go from {self.state} to {state}")
        return replace(self, state=state, **changes)

    def after_part(self, offset: int) -> State:
        """Return the state after bytes up to `offset`; an upload that commits itself stays `receiving` until then."""
        if offset == self.length:
            return State.COMPLETE if self.commit_required else State.COMMITTING
        return State.RECEIVING

    def _end(self) -> str:
        texts = {
            State.FAILED: "The upload was refused, nothing is stored",
            State.ABORTED: "The upload was aborted",
            State.EXPIRED: "The upload has expired: no part came in time",
        }
        said = (self.outcome or {}).get("message")
        return f"{texts[self.state]}: {said}" if said else texts[self.state]
