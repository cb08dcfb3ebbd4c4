"""How plug-ins write: with the identity of a request, by the same paths and rules as its endpoints."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Protocol

from frepo_core.domain.backups.runs import NewRun
from frepo_core.domain.identity import Identity

from ..checks.upload_check import Covers, FoundVerdict, OnFinding, Outcome, PendingCheck
from ..content.sent_content import SentContent
from ..guards import Guards
from .records import FileInfo, StoredVersion, UploadStart


class WritingService(Protocol):
    """What plug-ins can do in the name of a client. All raises `ReadOnlyError` in read-only mode."""

    def identify(
        self,
        token_id: str,
        *,
        address: str,
        user_agent: str = "",
        began_at: datetime | None = None,
        earlier: Identity | None = None,
    ) -> Identity:
        """Return the identity of a token, which may be used now from this address by this User-Agent.

        A view has it already, as `request.sender`. This is for what a client began earlier: the token may have expired
        since `began_at` (aware). `earlier` is the identity that began it: it is returned if it is that of this token,
        which has expired and was removed since, but not if it was revoked. Raises `AccessDeniedError`.
        """

    def may_add_version(
        self, collection_id: str, *, by: Identity, size: int | None = None, head: bytes = b""
    ) -> UploadStart:
        """Refuse a version by what is known before its content is complete. Nothing is stored.

        `size` in bytes is what the client announced. `head` are the first bytes of the content, up to 8 KiB: the types
        of the token are checked with them. Raises what `add_version` would raise, as far as it is known, and
        `StorageFull` if there can never be room.
        """

    def require_upload_right(self, collection_id: str, *, by: Identity) -> None:
        """Refuse a token that may not add a version to a collection now, and check nothing else.

        For a further part of a content that `may_add_version` has admitted. Raises `NotFoundError`,
        `AccessDeniedError` or `ReadOnlyError`.
        """

    def record_lack_of_room(self, collection_id: str, message: str, *, by: Identity, size: int | None = None) -> None:
        """Record that a version was refused because there was no room for it: the collection is `full` until the next.

        For a plug-in that receives contents by itself: what `may_add_version` and `add_version` raise is recorded by
        them. `message` is a sentence for people, `size` the announced one in bytes. The event `version.refused` is
        recorded once a minute for each token and collection. Raises `NotFoundError` or `AccessDeniedError`.
        """

    def add_version(
        self,
        collection_id: str,
        content: BinaryIO | SentContent,
        *,
        by: Identity,
        size: int | None = None,
        sha256: str | None = None,
        last_number: int | None = None,
        began_at: datetime | None = None,
        silent_since: datetime | None = None,
        run: NewRun | None = None,
        idempotency_key: str | None = None,
        coding: str | None = None,
        guards: Guards | None = None,
        note: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> StoredVersion:
        """Add a version as an upload does, with all rules; a `SessionFile` is neither hashed nor copied again.

        A `SentContent` is what the client has sent, without its coding, and says size and digests by itself.

        `size` and `sha256` are what the client says about the content, which must be true. `last_number` is that of the
        `UploadStart`, `began_at` the time of it, and `silent_since` when the client sent nothing for a while for the
        first time, None: never. If the client has sent the same content again since it was silent, and newer versions
        of it have arrived, this one is put into quarantine as `overtaken`.

        With a `run`, the client vouches for the content that its command made. The run is recorded. If all its
        `exit_statuses` are 0, the verdict is `complete` at best. If one is not, or if size or digest are wrong, it is
        recorded as failed and nothing stored. Its `check` counts as a check of the service does: for what the client
        has encrypted, it alone can say whether the content was whole.

        With an `idempotency_key`, which is the plug-in's own for this collection, the same content is stored once: if
        the process is killed after the commit, the next call within 14 days returns the version as it was stored. If it
        was deleted or evicted since, that has `removed`, and nothing is stored: choose another key to store it again.

        With `coding`, which is `gzip` or `zstd`, the version is what `content` contains, as with the header
        Content-Encoding: `size` and `sha256` are of that. Bytes that are not in this coding, not whole, followed by
        others, or become more than 1,000 times as large are refused as with a wrong digest.

        `guards` apply in place of those of the collection, for this content only: all but `min_retention`, which raises
        `ValueError`. If none of them looks at it, later versions are not compared with it, but with the three before. A
        check that ends later uses the guards of the collection.

        `labels` are names for the version, each with a value, as `{"segment": "000000010000000A000000FE"}`: `versions`
        finds it by them. At most 20, each name of small letters, digits and `-_.`, and each value of at most 200
        characters. They and the `note`, a text of at most 1000 characters for people, are committed with the version,
        stay with it in the trash, and are recovered with it. Raises `ValueError` for others.

        Raises `NotFoundError` without such a collection, `AccessDeniedError`, `FieldsError`, `StorageFull`, and other
        errors of frepo that refuse the version. Nothing has changed then.
        """

    def may_upload_file(
        self,
        name: str,
        *,
        by: Identity,
        size: int | None = None,
        tags: Sequence[str] = (),
        password: str = "",
        head: bytes = b"",
    ) -> int | None:
        """Refuse a file as `may_add_version` refuses a version. Return its largest size in bytes, None for no limit."""

    def upload_file(
        self,
        content: BinaryIO | SentContent,
        name: str,
        *,
        by: Identity,
        size: int | None = None,
        sha256: str | None = None,
        tags: Sequence[str] = (),
        public: bool = False,
        password: str = "",
        idempotency_key: str | None = None,
        coding: str | None = None,
    ) -> FileInfo:
        """Add a file as an upload does, with all rules, or return the one that has the same content.

        `size` and `sha256` are what the client says about the content, `idempotency_key` and `coding` are as for
        `add_version`. Raises errors of frepo.
        """

    def find_added_version(
        self, collection_id: str, *, by: Identity, sha256: str, idempotency_key: str
    ) -> StoredVersion | None:
        """Return what an `add_version` with this key has stored, which was perhaps killed afterwards; None if nothing.

        If it was deleted or evicted since, it has `removed`. `by` is the token that has stored it, or one that replaced
        it. Raises `IdempotencyConflictError` if it was other content.
        """

    def find_added_file(self, *, by: Identity, sha256: str, idempotency_key: str) -> FileInfo | None:
        """Return what an `upload_file` with this key has stored, as `find_added_version` does."""

    def count_held_bytes(self, held: Callable[[], int]) -> None:
        """Count what the plug-in holds of unfinished uploads on the disk of the storage, in all processes together.

        `held` returns the bytes: they may be given back, so nothing in the trash ends for them. It is called by the job
        that keeps the storage free. Call this once in each process, such as in the `start` of a `Lifecycle`.
        """

    def record_run(self, collection_id: str, run: NewRun, *, by: Identity) -> int | None:
        """Record a run of a backup job that a client reports, as `POST /api/v1/collections/{id}/runs` does.

        Return the number of the version that it is about, None if it is about none. Raises `NotFoundError` or
        `AccessDeniedError`.
        """

    def record_check(
        self,
        check: PendingCheck,
        outcome: FoundVerdict | Outcome,
        message: str,
        *,
        job: str,
        details: Mapping[str, Any] | None = None,
        covers: Covers = "container",
        kinds: Sequence[str] | None = None,
        database: str = "",
        on_finding: OnFinding | None = None,
    ) -> bool:
        """Record the result of a pending check, found by a job, with the event `version.checked`.

        `covers`, `kinds` and `database` are as in a `CheckResult`, `on_finding` as in a `Finding`: if the version is
        broken and rotation has waited for it, it is put into quarantine or added. `pending` counts as an attempt in
        vain; after the third, the version is suspicious. Return False if the version was deleted meanwhile.
        """

    def record_version_check(
        self,
        collection_id: str,
        version: str,
        name: str,
        outcome: FoundVerdict | Outcome,
        message: str,
        *,
        by: Identity,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        """Record what a client found about a version, as `POST .../versions/{selector}/checks` does.

        `version` is its id, or a selector such as `v12`. It is the client's word: it condemns no version. Raises
        `NotFoundError`, `AccessDeniedError`, and `FieldsError` for a name that is not the client's.
        """
