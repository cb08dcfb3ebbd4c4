"""The optional interface between server and application, in addition to WSGI: the attribute `server_hooks`."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

ATTRIBUTE = "server_hooks"


class Buffer(Protocol):
    """A buffer for a request body."""

    def append(self, data: bytes) -> None:
        """Append bytes. Raises `OSError` if they cannot be written."""

    def getfile(self) -> Any:
        """Return the body as a file at its start, for `wsgi.input`."""

    def close(self) -> None:
        """Delete the body."""

    def __len__(self) -> int: ...


class BodySink(Protocol):
    """Where the application gets the pieces of a body while they arrive, in workers, never two calls at once."""

    def write(self, piece: bytes) -> bool:
        """Process the next piece. If this returns False, the application is called at once, with its answer."""

    def fail(self, error: Exception) -> None:
        """Answer with this error when the application is called: a part of the body is lost."""

    def close(self) -> None:
        """Nothing follows: the application was called with this body, or it will not be. It may be called again."""


class Decision(Protocol):
    """The application's decision about a request before its body arrives."""

    @property
    def refusal(self) -> tuple[str, list[tuple[str, str]], bytes] | None:
        """Status, headers and body of the answer if the request is refused, else None."""

    @property
    def needs_body(self) -> bool:
        """Whether the application reads the body. If not, it is called at once."""

    @property
    def max_body(self) -> int | None:
        """The maximum size of the body in bytes, None for no maximum. If it is exceeded, `decide` is called again.

        The rest of the body waits in the connection meanwhile.
        """

    @property
    def environ(self) -> Mapping[str, Any]:
        """What the environment has in addition when the application is called with the body; of the first decision."""

    @property
    def sink(self) -> BodySink | None:
        """Where the body goes, of the first decision; None: into its buffer. With a sink, `wsgi.input` is empty."""

    @property
    def owner(self) -> str | None:
        """Whose body this is, if the application knows the client. It may be silent for longer."""


class Threads(Protocol):
    """The threads that handle requests."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def idle(self) -> int:
        """How many have no request."""

    @property
    def queued(self) -> int:
        """How many requests wait for a thread."""


class ServerHooks(Protocol):
    """The attribute `server_hooks` of an application."""

    @property
    def stop_seconds(self) -> float:
        """How long requests may continue after SIGTERM, in seconds."""

    def serve_with(self, threads: "Threads") -> None:
        """Take the threads of the server into account. It is called once, before the first request."""

    def new_buffer(self, memory: int, content_type: str, query: str) -> Buffer:
        """Return an empty buffer that keeps at most `memory` bytes in memory, for a request with these."""

    def decide(self, environ: dict[str, Any]) -> Decision:
        """Decide about a request before its body arrives; `wsgi.input` is empty. It must not change anything.

        A worker calls it for chunked bodies, bodies over 1 MiB and `Expect: 100-continue`. `CONTENT_LENGTH` is the
        announced size of the body, for a chunked one the size that has arrived; `frepo.arrived` is the size that has
        arrived, `frepo.chunked` whether the size is unknown, and `frepo.buffer` what `new_buffer` returned. If it is
        called again, the environment has what the first decision added to it. Later, the application is called with the
        body, and `frepo.is_decided` is true in the environment. Of each request, `frepo.age` says how many seconds ago
        its head was complete.
        """

    def body_aborted(self, environ: Mapping[str, Any], *, received: int, size: int | None, reason: str) -> None:
        """Note that a body broke off after `received` bytes of `size` (None: it was not announced), in a worker.

        `environ` is that of the decision. `reason` is `disconnected`, `timeout` or `too_many_connections`.
        """

    def error_body(self, path: str, text: str, status: int) -> tuple[str, bytes] | None:
        """Return the media type and the body of an error that the server answers, None for the server's own.

        `path` is as PATH_INFO, and empty if the head has none. The request may be malformed or incomplete.
        """

    def body_lost(self, error: OSError) -> Exception:
        """Return the exception for reading a body that could not be written."""

    def close(self) -> None:
        """Release the application's resources at the end of the process."""


def hooks_of(application: object) -> ServerHooks | None:
    """Return the hooks of the application, or of the application in its attribute `application` or `app`."""
    while application is not None:
        if hooks := getattr(application, ATTRIBUTE, None):
            return cast(ServerHooks, hooks)
        application = getattr(application, "application", None) or getattr(application, "app", None)
    return None
