"""The endpoint `POST /clamav/scan`: ClamAV sees a content while it arrives, and nothing is stored."""

from frepo_core.plugins import EndpointError, PluginContext
from frepo_core.web import Answer, Endpoint, FrepoRequest, Reply

from .clamd import Scan


class ScanReply(Reply):
    """What ClamAV found; None: nothing."""

    found: str | None


class ScannedBody:
    """The body of a request, on its way to clamd."""

    found: str | None = None

    def __init__(self, scan: Scan) -> None:
        self._scan = scan

    def write(self, piece: bytes) -> None:
        """Send a piece to clamd."""
        self._scan.send(piece)

    def ended(self, ok: bool) -> None:
        """Ask for the result if the body is complete, and close the connection to clamd in any case."""
        try:
            self.found = self._scan.finish() if ok else None
        finally:
            self._scan.close()


def open_scan(request: FrepoRequest, context: PluginContext) -> ScannedBody:
    """Connect to clamd before the body arrives."""
    try:
        return ScannedBody(Scan(context.settings.address, context.settings.timeout))
    except OSError as error:
        raise EndpointError(503, "ClamAV does not answer", headers={"Retry-After": "60"}) from error


def limit(request: FrepoRequest, context: PluginContext) -> int:
    """Return the largest size that is scanned, in bytes."""
    size: int = context.settings.max_size
    return size


def answer(request: FrepoRequest) -> Answer:
    """Say what ClamAV found."""
    return Answer(body=ScanReply(found=request.body_sink.found))


ENDPOINTS = [
    Endpoint(
        name="scan_with_clamav",
        method="POST",
        path="/clamav/scan",
        view=answer,
        summary="Scan a content without storing it",
        permission="token",
        body_sink=open_scan,
        before_body=limit,
        answers={200: ScanReply},
    )
]
