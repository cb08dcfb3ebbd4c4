"""What plug-ins learn about requests: those that they send, and those that the service answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """The answer of another server, without its body. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]


class RequestObserver(Protocol):
    """A function that is called after each request. It must be fast, and it is called by several threads at once."""

    def __call__(
        self, method: str, path: str, status: int, seconds: float, received: int, sent: int, error: str, /
    ) -> None:
        """Take a finished request.

        `path` is the path of the endpoint with its placeholders, empty for an unknown path. `seconds` is the time in
        the application, without the transfer of bodies. `received` and `sent` are the sizes of the bodies in bytes, 0
        if unknown. `error` is the name of the error's class, empty if there was none.
        """
