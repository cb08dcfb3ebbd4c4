"""The policy contract: decides whether a version may be uploaded, deleted or downloaded now, by this client."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias, cast, get_args

from ..settings import require_callable
from .upload_check import CollectionInfo

PolicyAction: TypeAlias = Literal["upload", "delete", "download"]
OnFailure: TypeAlias = Literal["allow", "refuse"]


class PolicyRefusal(Exception):  # the contract's name: it is a decision, not a failure of the policy
    """The policy refuses the request. `reason` says why, in one sentence for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class PolicyRequest:
    """What somebody asks for.

    - `action`: `upload`, `delete` or `download`.
    - `collection`: the collection of the version.
    - `version`: its number; None for an upload, and if all versions in the collection or in its trash are deleted.
    - `size`: the size of the content in bytes; None if it is not known yet, and for a deletion.
    - `takes_last_good`: whether a deletion takes the only version of the collection whose verdict is good.
    - `actor`: the fingerprint of a token, `console:<user>`, or `anonymous` for a link. `actor_name` is what people call
      the token.
    - `address`: the address of the client; empty for `frepo`.
    - `at`: the time in UTC (aware).
    """

    action: PolicyAction
    collection: CollectionInfo
    version: int | None
    size: int | None
    takes_last_good: bool
    actor: str
    actor_name: str
    address: str
    at: datetime


# `decide(request, context)`; the context is a `PluginContext`.
DecideFunction: TypeAlias = Callable[[PolicyRequest, Any], None]


@dataclass(frozen=True, kw_only=True)
class UploadPolicy:
    """A rule about who may upload, delete or download a version, and when.

    - `name`: unique among all policies.
    - `decide`: gets the request and the plug-in's context. It returns None, or raises a `PolicyRefusal`. It has two
      seconds.
    - `actions`: what it is asked about.
    - `on_failure`: what follows if `decide` fails or hangs: `allow` or `refuse`, or a function that gets the plug-in's
      settings and returns it at the start. None: uploads are allowed, so that no backup is lost, and deletions and
      downloads are refused. While four calls hang, the policy is not called any more, and the same follows.
    """

    name: str
    decide: DecideFunction
    actions: tuple[PolicyAction, ...] = ("upload",)
    on_failure: OnFailure | Callable[[Any], OnFailure | None] | None = None

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("decide", self.decide)
        if not isinstance(self.actions, tuple) or not self.actions or set(self.actions) - {*get_args(PolicyAction)}:
            raise ValueError(
                f"actions is {self.actions!r}; write a tuple of 'upload', 'delete' and 'download', such as ('upload',)"
            )
        if self.on_failure is not None and not callable(self.on_failure):
            check_on_failure(self.on_failure)


def check_on_failure(value: object) -> OnFailure:
    """Return the value if it says what follows a failure. Raises `ValueError`."""
    if value not in get_args(OnFailure):
        raise ValueError(f"on_failure is {value!r}; write allow or refuse")
    return cast(OnFailure, value)
