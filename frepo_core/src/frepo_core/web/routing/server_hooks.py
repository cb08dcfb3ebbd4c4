"""Functions that frepo-server calls in addition to WSGI: buffers for bodies, early decisions, and the stop.

Other servers serve the application without them, more slowly.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from frepo_core.errors import FrepoError, StorageUnavailable
from frepo_core.services.composition.container import Services
from frepo_core.services.content.spool import DISK_FULL_ERRORS, MemoryBudget, Spool, plain_file, temporary_disk_full
from frepo_core.services.events.aborted_uploads import AbortReason

from ..base.dialect import dialect_at
from ..base.request import SENDER, UPLOAD_TO
from ..content.multipart import is_multipart
from .base_path import without_base_path
from .body_reception import BodyReception

# More bodies than threads, of the largest size that is kept in memory. Stalled ones must not take the process's memory.
BODY_MEMORY = 16 << 20
_BASE64 = "encoding=base64"  # in the query of an upload
DECISION = "frepo.decision"  # key of the WSGI environment; the view is not called if it is set


@dataclass(kw_only=True)
class Decision:
    """The decision about a request before its body arrives.

    `refusal` is the answer (status, headers, body) if the request is refused. `needs_body` is whether the view reads
    the body; `max_body` is the body's maximum size in bytes, None for no maximum. `environ` is what the environment of
    the request has in addition when its body has arrived. `owner` names the valid token of the request, if it has one.
    `sink` gets the pieces of the body while they arrive, if the endpoint has a sink.
    """

    refusal: tuple[str, list[tuple[str, str]], bytes] | None = None
    is_made: bool = False
    needs_body: bool = True
    max_body: int | None = None
    environ: dict[str, Any] = field(default_factory=dict)
    owner: str | None = None
    sink: BodyReception | None = None


class ServerHooks:
    """The attribute `server_hooks` of the WSGI application. Servers find it by name, without an import."""

    def __init__(self, application: Any, services: Services) -> None:
        self._application = application
        self._services = services
        self._body_memory = MemoryBudget(BODY_MEMORY)

    @property
    def stop_seconds(self) -> float:
        """How long requests may continue after SIGTERM, in seconds."""
        return self._services.settings.long_execution_time

    def serve_with(self, threads: Any) -> None:
        """Take the threads of the server into account, which have the attributes `count`, `idle` and `queued`."""
        self._services.database.serve_with(threads)

    def new_buffer(self, memory: int, content_type: str, query: str) -> Spool:
        """Return a buffer for a body, which hashes it on arrival and whose file a storage can link.

        A form or base64 is not hashed, but what it contains, later. It keeps at most `memory` bytes in memory, and all
        of a process at most `BODY_MEMORY`.
        """
        ingest = self._services.ingest
        is_wrapped = is_multipart(content_type) or _BASE64 in query
        hashers = None if is_wrapped else ingest.hashers
        return Spool(memory, partial(plain_file, ingest.directory, ingest.held, hashers), self._body_memory)

    def decide(self, environ: dict[str, Any]) -> Decision:
        """Decide about a request whose body has not arrived. No view is called, and nothing changes."""
        decision = environ[DECISION] = Decision()
        answers: list[Any] = []
        body = b"".join(self._application(environ, lambda *answer: answers.append(answer)))
        if not decision.is_made:
            status, headers = answers[-1][:2]
            decision.refusal = status, headers, body
        return decision

    def body_aborted(self, environ: Mapping[str, Any], *, received: int, size: int | None, reason: AbortReason) -> None:
        """Record that the upload of a version broke off. `environ` is that of the decision about it."""
        if (collection_id := environ.get(UPLOAD_TO)) and (by := environ.get(SENDER)):
            self._services.refusals.aborted.record(collection_id, by=by, received=received, size=size, reason=reason)

    def error_body(self, path: str, text: str, status: int) -> tuple[str, bytes] | None:
        """Return the media type and the body of an error that the server answers; None: that of the first API."""
        base_path = self._services.settings.base_path
        dialect = dialect_at(self._application.registry, without_base_path(path, base_path))
        return dialect.server_error(text, status, base_path)

    def body_lost(self, error: OSError) -> FrepoError:
        """Return the exception for reading a body that could not be written to the disk for temporary files."""
        lost: FrepoError
        if error.errno in DISK_FULL_ERRORS:
            lost = temporary_disk_full()
        else:
            lost = StorageUnavailable(f"The disk for temporary files: {error.strerror}")
        lost.__cause__ = error
        return lost

    def close(self) -> None:
        """Stop what plug-ins run, and close the connections to the storages and to the database.

        SQLite checkpoints its write-ahead log when the last connection is closed.
        """
        self._services.service_time.stop()
        self._services.database.engine.dispose()
