"""The health check: whether the database answers, the storage returns what it stored, and all blobs are sound."""

import hmac
from dataclasses import dataclass

from sqlalchemy import func, select

from frepo_core.db import Database, migrations
from frepo_core.db.models import Blob
from frepo_core.errors import AccessDeniedError, BytesMissingError
from frepo_core.plugins import HealthCheck
from frepo_core.settings import Settings

from .blobs.backends import Backends
from .health_checks import HealthChecks


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
        self._checks = HealthChecks(
            [
                HealthCheck(name="database", run=self._check_database),
                HealthCheck(name="storage", run=self._check_storage),
                HealthCheck(name="blobs", run=self._check_blobs),
            ]
        )

    def report(self, code: str) -> HealthReport:
        """Run all checks. Raises `AccessDeniedError` for a wrong code, and always if no code is set."""
        if not self._code or not hmac.compare_digest(self._code.encode(), code.encode()):
            raise AccessDeniedError("No access: the parameter code must be the value of HEALTH_CHECK_CODE")
        found = self.run()
        database, storage = found["database"], found["storage"]
        if not database:  # without a database, the check of the blobs only repeats that
            storage += found["blobs"]
        return HealthReport(database=database, storage=storage)

    def run(self) -> dict[str, tuple[str, ...]]:
        """Run all checks at the same time; return the problems that each found, by its name."""
        return self._checks.run()

    def _check_database(self) -> None:
        self._database.check()
        migrations.check_is_complete(self._database.engine)

    def _check_storage(self) -> None:
        self._backends.get(self._backends.current).check()

    def _check_blobs(self) -> None:
        with self._database.reading() as session:
            damaged = session.scalar(select(func.count()).select_from(Blob).where(Blob.damaged_at.is_not(None)))
        if damaged:
            raise BytesMissingError(f"{damaged} blobs are damaged, storage:verify lists them")
