"""The contract of what reads a content together with its check, so that it is read once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeAlias

from .settings import require_callable


class NotFollowed(OSError):
    """The check does not read these bytes, or has read them long ago: they cannot be had without a second reading."""


@dataclass(frozen=True, kw_only=True)
class FollowedContent:
    """A content that is checked: its `size`, its SHA-256, and a seekable `file`.

    Reading the file waits for the check, and raises `NotFollowed` for what the check does not read.
    """

    size: int
    sha256: str
    file: BinaryIO


# `follow(content, context)`; the context is a `PluginContext`.
FollowFunction: TypeAlias = Callable[[FollowedContent, Any], None]


@dataclass(frozen=True, kw_only=True)
class ContentFollower:
    """What reads the content of a version when it is checked, such as one that lists its parts.

    - `name`: unique among all followers.
    - `follow`: reads the content, mostly from its start to its end. An upload that needs no further check is followed
      as soon as it was checked, from the bytes that have just arrived; one that a job checks while the job reads it.
      What it does changes no verdict and delays no upload: one that is too slow gets `NotFollowed`, or is not called.
      It may be called for a content that it knows already, or that is refused afterwards.
    - `smallest`: the size in bytes from which a content is followed. To read a small one again costs less.
    """

    name: str
    follow: FollowFunction
    smallest: int = 0

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError`."""
        require_callable("follow", self.follow)


class FollowedReading(Protocol):
    """The one reading of a content, for its check: it reads `file` with `read` and `seek`."""

    @property
    def file(self) -> BinaryIO:
        """The content."""

    @property
    def waited(self) -> float:
        """The seconds that the check has waited for followers. They are not the check's own."""
