"""What a server may ask of the application beyond WSGI: where bodies wait, and how long a stop may take.

A server that knows nothing of this serves the application as well, only slower.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from frepo_core.errors import FrepoError, StorageFull, StorageUnavailable
from frepo_core.services.container import Services
from frepo_core.services.content.spool import DISK_FULL_ERRORS, Spool, plain_file

DECISION = "frepo.decision"  # in WSGI's environment: the decision to make in place of calling the view


@dataclass(kw_only=True)
class Decision:
    """What is decided about a request without its body.

    `refusal` is the answer (status, headers, body) to a request that is refused. `needs_body`: the view reads the
    body, which may have `max_body` bytes, None for any number.
    """

    refusal: tuple[str, list[tuple[str, str]], bytes] | None = None
    is_made: bool = False
    needs_body: bool = True
    max_body: int | None = None


class ServerHooks:
    """The attribute `server_hooks` of the WSGI application. Servers find it by that name and import nothing."""

    def __init__(self, application: Callable[..., Any], services: Services) -> None:
        self._application = application
        self._services = services

    @property
    def stop_seconds(self) -> float:
        """How long requests may go on after SIGTERM, in seconds."""
        return self._services.settings.long_execution_time

    def new_buffer(self, memory: int) -> Spool:
        """Return an empty buffer for a body, which is hashed while it arrives and can be linked into a storage."""
        ingest = self._services.ingest
        return Spool(memory, partial(plain_file, ingest.directory, ingest.hashers))

    def decide(self, environ: dict[str, Any]) -> Decision:
        """Decide about a request whose body has not arrived; no view is called, and nothing is changed."""
        decision = environ[DECISION] = Decision()
        answers: list[Any] = []
        body = b"".join(self._application(environ, lambda *answer: answers.append(answer)))
        if not decision.is_made:
            status, headers = answers[-1][:2]
            decision.refusal = status, headers, body
        return decision

    def body_lost(self, error: OSError) -> FrepoError:
        """Return what reading a body raises if the disk for temporary files did not take the body."""
        lost: FrepoError
        if error.errno in DISK_FULL_ERRORS:
            lost = StorageFull("The disk for temporary files has no room left")
        else:
            lost = StorageUnavailable(f"The disk for temporary files: {error.strerror}")
        lost.__cause__ = error
        return lost

    def close(self) -> None:
        """Close the connections to the database; SQLite puts its log of writes into the file when the last one ends."""
        self._services.database.engine.dispose()
