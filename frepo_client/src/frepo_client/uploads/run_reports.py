"""Reports of runs that have stored nothing: else the server knows of a failure only when a backup is overdue."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from .. import __version__
from ..errors import ClientError, RefusedError, UnreachableError
from ..reporter import Reporter
from ..server.api import Api
from ..texts import plain_error
from .session import SessionGoneError

# How long a report is tried: cron says that the job failed only after that.
_SECONDS = 900.0
# The server records by itself that a content has another digest than the one that was sent with it.
_DIGEST_MISMATCH = 60007
_ENDED = "the client was ended while the command ran"


class RunReports:
    """Tells a server of runs that failed."""

    def __init__(self, api: Api, reporter: Reporter) -> None:
        self._api = api
        self._reporter = reporter

    @contextlib.contextmanager
    def reported(self, collection: str, *, waits: bool = False) -> Iterator[dict[str, Any]]:
        """Yield what a run has, and report it as failed if the body of the `with` statement raises.

        `waits` says that a dump waits in the spool if the server cannot be reached, so that has not failed.
        """
        run: dict[str, Any] = {
            "started_at": datetime.now(timezone.utc).isoformat(),
            "host": socket.gethostname(),
            "client": f"frepo-client/{__version__}",
        }
        try:
            yield run
        except SessionGoneError as error:
            self._report(collection, {**run, "error_output": f"the upload was ended: {error}"})
            raise RefusedError(f"the server has ended the upload: {error}", 410) from None
        except UnreachableError as error:
            if not waits:  # it may work again just now
                self._report(collection, {**run, "error_output": str(error)}, seconds=0)
            raise
        except Exception as error:
            if getattr(error, "code", None) != _DIGEST_MISMATCH:
                text = str(error) if isinstance(error, (ClientError, OSError)) else plain_error(error)
                self._report(collection, {"error_output": self._reporter.masked(text), **run})
            raise
        except KeyboardInterrupt:
            self._report(collection, {**run, "error_output": _ENDED}, seconds=0)
            raise

    def _report(self, collection: str, run: dict[str, Any], *, seconds: float = _SECONDS) -> None:
        """Report a failed run. That the server cannot be told does not make it another failure."""
        run.pop("check", None)
        try:
            self._api.at_most(seconds).report_run(collection, {"outcome": "failed", "stored_nothing": True, **run})
        except ClientError as error:
            # The server records that it has refused the token, which the failure itself says.
            if getattr(error, "http_status", None) not in {401, 403}:
                self._reporter.fail(f"the server could not be told of this failure: {error}")
