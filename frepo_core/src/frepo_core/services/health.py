"""The health check: whether the database answers, the storage returns what it stored, and all blobs are sound."""

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import func, select

from frepo_core.db import Database
from frepo_core.db.models import Blob
from frepo_core.errors import AccessDeniedError, BytesMissingError, FrepoError
from frepo_core.settings import Settings

from .blobs.backends import Backends

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class HealthReport:
    """The problems that were found, as messages; both are empty if everything works."""

    database: tuple[str, ...]
    storage: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        """Return whether no problem was found."""
        return not self.database and not self.storage


class Health:
    """Checks the database and the storage for monitoring."""

    def __init__(self, database: Database, backends: Backends, settings: Settings) -> None:
        self._database = database
        self._backends = backends
        self._code = settings.health_check_code.get_secret_value()

    def report(self, code: str) -> HealthReport:
        """Check both. Raises `AccessDeniedError` for a wrong code, and for any code if none is configured."""
        if not self._code or not hmac.compare_digest(self._code.encode(), code.encode()):
            raise AccessDeniedError("No access: the health check needs its code")
        database = self._run(self._database.check)
        storage = self._run(self._backends.get(self._backends.current).check)
        if not database:
            storage += self._run(self._check_blobs)
        return HealthReport(database=database, storage=storage)

    def _check_blobs(self) -> None:
        with self._database.reading() as session:
            damaged = session.scalar(select(func.count()).select_from(Blob).where(Blob.damaged_at.is_not(None)))
        if damaged:
            raise BytesMissingError(f"{damaged} blobs are damaged, storage:verify lists them")

    def _run(self, check: Callable[[], None]) -> tuple[str, ...]:
        try:
            check()
        except FrepoError as error:
            log.error("health check: %s", error.message)
            return (error.message,)
        return ()
