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


class Decision(Protocol):
    """What the application decides about a request without its body."""

    @property
    def refusal(self) -> tuple[str, list[tuple[str, str]], bytes] | None:
        """Status, headers and body of the answer if the request is refused; else None."""

    @property
    def needs_body(self) -> bool:
        """Whether the application reads the body. If not, it is called at once."""

    @property
    def max_body(self) -> int | None:
        """How many bytes the body may have, None for any number. The application is asked again about a longer one."""


class ServerHooks(Protocol):
    """The attribute `server_hooks` of an application: how it would like to be served."""

    @property
    def stop_seconds(self) -> float:
        """How long requests may go on after SIGTERM, in seconds."""

    def new_buffer(self, memory: int) -> Buffer:
        """Return an empty buffer for a body that keeps at most `memory` bytes in memory."""

    def decide(self, environ: dict[str, Any]) -> Decision:
        """Decide about a request whose body has not arrived; `wsgi.input` is empty.

        It is called for chunked bodies, bodies over 1 MiB and `Expect: 100-continue`, in a worker. Nothing may be changed. `CONTENT_LENGTH` is how long the
        body is announced to be; of a longer one than was allowed, it is how much has arrived. The application is then called as usual with the body,
        with `frepo.decided` set in its environment.
        """

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
