"""What the server asks of the application, beyond WSGI. Nothing here is needed: any WSGI application can be served."""

from typing import Any, Protocol, cast

ATTRIBUTE = "server_hooks"


class Buffer(Protocol):
    """Collects a request body."""

    def append(self, data: bytes) -> None:
        """Add the next bytes. Raises `OSError` if the disk does not take them."""

    def getfile(self) -> Any:
        """Return the body as a file, at its start; it becomes `wsgi.input`."""

    def close(self) -> None:
        """Delete the body."""

    def __len__(self) -> int: ...


class ServerHooks(Protocol):
    """The attribute `server_hooks` of an application: how it would like to be served."""

    @property
    def stop_seconds(self) -> float:
        """How long requests may go on after SIGTERM, in seconds."""

    def new_buffer(self, memory: int) -> Buffer:
        """Return an empty buffer for a body that keeps at most `memory` bytes in memory."""

    def body_lost(self, error: OSError) -> Exception:
        """Return what reading a body raises if the disk did not take the body."""

    def close(self) -> None:
        """Release what the application holds; the process ends."""


def hooks_of(application: object) -> ServerHooks | None:
    """Return the hooks of the application, or of the one that it wraps as `application` or `app`."""
    while application is not None:
        if hooks := getattr(application, ATTRIBUTE, None):
            return cast(ServerHooks, hooks)
        application = getattr(application, "application", None) or getattr(application, "app", None)
    return None
