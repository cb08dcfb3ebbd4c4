"""What a server may ask of the application beyond WSGI: where bodies wait, and how long a stop may take.

A server that knows nothing of this serves the application as well, only slower.
"""

from functools import partial

from frepo_core.errors import FrepoError, StorageFull, StorageUnavailable
from frepo_core.services.assembly import Services
from frepo_core.services.spooling import NO_ROOM, Spool, plain_file


class ServerHooks:
    """The attribute `server_hooks` of the WSGI application. Servers find it by that name and import nothing."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @property
    def stop_seconds(self) -> float:
        """How long requests may go on after SIGTERM, in seconds."""
        return self._services.settings.long_execution_time

    def new_buffer(self, memory: int) -> Spool:
        """Return an empty buffer for a body, which is hashed while it arrives and can be linked into a storage."""
        intake = self._services.intake
        return Spool(memory, partial(plain_file, intake.directory, intake.hashers))

    def body_lost(self, error: OSError) -> FrepoError:
        """Return what reading a body raises if the disk for temporary files did not take the body."""
        lost: FrepoError
        if error.errno in NO_ROOM:
            lost = StorageFull("The disk for temporary files has no room left")
        else:
            lost = StorageUnavailable(f"The disk for temporary files: {error.strerror}")
        lost.__cause__ = error
        return lost

    def close(self) -> None:
        """Close the connections to the database; SQLite puts its log of writes into the file when the last one ends."""
        self._services.database.engine.dispose()
