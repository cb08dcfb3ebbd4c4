"""The upload check contract: looks at uploaded content before it is stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO, Literal, Protocol, TypeAlias, cast, get_args

from ..settings import require_callable

OnFinding: TypeAlias = Literal["off", "mark", "quarantine", "refuse"]
Outcome: TypeAlias = Literal["good", "pending", "not checked"]
Covers: TypeAlias = Literal["container", "content"]
FoundVerdict: TypeAlias = Literal["broken", "suspicious"]
AppliesTo: TypeAlias = Literal["versions", "files"]


DEADLINE = 60.0


class Finding(Exception):  # the contract's name: it is what a check found, not a failure of the check
    """The content is broken or unwanted. `message` says why, for a person; `details` are stored as JSON.

    `on_finding` is what follows this finding, if that is not the same for all findings of the check. `verdict` is
    `broken`, or `suspicious` if the content is odd and may be right nevertheless. `kinds` are as in a `CheckResult`.
    Raises `ValueError` for a value that is not known.
    """

    def __init__(
        self,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        on_finding: OnFinding | None = None,
        verdict: FoundVerdict = "broken",
        kinds: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        if verdict not in get_args(FoundVerdict):
            raise ValueError(f"verdict is {verdict!r}; write broken or suspicious")
        self.message = message
        self.verdict = verdict
        self.kinds = kinds
        self.details = dict(details or {})
        self.on_finding = None if on_finding is None else check_on_finding(on_finding)


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What a check says about a content that it did not find broken.

    `good`: checked completely. `pending`: a job checks it later. `not checked`: the check does not know this kind of
    content. `message` is for a person; `details` are stored as JSON.

    `covers` says how far `good` goes: `content` if the end of the backup itself was seen, `container` if only what
    it is packed in is intact. `kinds` name the formats from the outside to the inside, such as `("gzip",
    "PostgreSQL dump")`: none if the content is of no known format, None if the check does not look. Where the
    innermost format is not known, `data`, `plain text` or `log` (a program reports an error in it) say what it
    looks like. `database` is the name of the database that the content says it is a dump of. The guard
    `expects_kind` compares them with those of earlier versions. The first word of a format names its program, so
    that a `PostgreSQL archive` may follow a `PostgreSQL dump`. A job that checks later says the same in
    `record_check`.
    """

    outcome: Outcome
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    covers: Covers = "container"
    kinds: tuple[str, ...] | None = None
    database: str = ""


@dataclass(frozen=True, kw_only=True)
class CollectionInfo:
    """A collection for plug-ins: `name` is the file name of its versions, `labels` are texts that people chose.

    `strategy_options` are those that were chosen for its `strategy`; one that is missing has its default. Both are
    empty for a collection that was deleted.
    """

    id: str
    name: str
    description: str = ""
    labels: tuple[str, ...] = ()
    strategy: str = ""
    strategy_options: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class CollectionProblem:
    """A collection that is in a state such as `failed` since a time (UTC, aware), and the reason, a few sentences.

    `states` are all that apply, the worst first, and `state` is the worst of them.
    """

    collection: CollectionInfo
    state: str
    since: datetime
    reason: str
    states: tuple[str, ...] = ()


class UploadedContent(Protocol):
    """Content that was uploaded and not stored yet. It can be read only until the check returns."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    @property
    def sha256(self) -> str:
        """The SHA-256 in lower-case hex."""

    @property
    def mime_type(self) -> str:
        """The detected type, such as `application/gzip`."""

    @property
    def file_name(self) -> str:
        """The name under which the content will be stored; a version has the name of its collection."""

    @property
    def collection(self) -> CollectionInfo | None:
        """The collection of a version; None for a file."""

    def open(self) -> BinaryIO:
        """Open the content at its start. The file is seekable, and has a position of its own.

        Reading it raises `ValueError` after the check has returned.
        """


# `run(content, context)`; the context is a `PluginContext`.
CheckFunction: TypeAlias = Callable[[UploadedContent, Any], CheckResult]


@dataclass(frozen=True, kw_only=True)
class UploadCheck:
    """A check of uploaded content.

    - `name`: unique among all checks. Results are stored under it.
    - `run`: gets the content and the plug-in's context. It returns a `CheckResult`, or raises a `Finding`. The service
      calls it in a thread of its own, outside any transaction, and waits. After any other exception, the content is
      accepted and recorded as `not checked`, or as `pending` if there is a `job`.
    - `on_finding`: what follows a finding, or a function that gets the plug-in's settings and returns it at the start.
      None: the setting `checks.on_broken` decides, which is `quarantine` by default. `off`: the check is not run.
      `mark`: the version is accepted, the finding is recorded. `quarantine`: the version is accepted into quarantine,
      where nothing is deleted for it, until a person releases or deletes it; for a file, it is the same as `mark`.
      `refuse`: the upload is refused.
    - `applies_to`: what is checked: versions of collections, other files, or both.
    - `deadline`: in seconds, or a function that gets the plug-in's settings and returns it at the start. A check that
      takes longer hangs: the content is accepted as `not checked`, and `run` can no longer read it. While four runs of
      the check hang, it is not run, and contents are `not checked` at once.
    - `begins`: only contents that begin with one of these are checked, if there are any. Others have no result, and
      their upload costs nothing.
    - `job`: the name of the job that checks pending contents of versions later, None if there is none. With it, a
      version whose check fails or hangs is `pending` instead of `not checked`, so that nothing is deleted for it before
      the job has looked at it.
    """

    name: str
    run: CheckFunction
    on_finding: OnFinding | Callable[[Any], OnFinding | None] | None = None
    applies_to: tuple[AppliesTo, ...] = ("versions",)
    deadline: float | Callable[[Any], float] = DEADLINE
    begins: tuple[bytes, ...] = ()
    job: str | None = None

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("run", self.run)
        if self.on_finding is not None and not callable(self.on_finding):
            check_on_finding(self.on_finding)
        if not callable(self.deadline):
            check_deadline(self.deadline)
        if not isinstance(self.begins, tuple) or not all(isinstance(one, bytes) and one for one in self.begins):
            raise ValueError(f"begins is {self.begins!r}; write bytes in a tuple, such as (b'PK',)")
        if not self.applies_to or set(self.applies_to) - {*get_args(AppliesTo)}:
            raise ValueError(
                f"applies_to is {self.applies_to!r}; write ('versions',), ('files',), or both in one tuple"
            )


@dataclass(frozen=True, kw_only=True)
class PendingCheck:
    """A version whose check `name` is pending since the time `since` (UTC, aware). `size` is in bytes.

    `attempts` is how often it was tried in vain.
    """

    name: str
    version_id: str
    collection_id: str
    version_number: int
    file_name: str
    mime_type: str
    size: int
    since: datetime
    attempts: int = 0


def check_on_finding(value: object) -> OnFinding:
    """Return the value if it says what follows a finding. Raises `ValueError`."""
    if value not in get_args(OnFinding):
        raise ValueError(f"on_finding is {value!r}; write off, mark, quarantine or refuse")
    return cast(OnFinding, value)


def check_deadline(value: object) -> float:
    """Return the value if it is a number of seconds above 0. Raises `ValueError`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"deadline is {value!r}; write seconds above 0")
    return float(value)
