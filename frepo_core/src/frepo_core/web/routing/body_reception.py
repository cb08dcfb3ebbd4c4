"""Hands the bodies of requests to the sinks of endpoints, while they arrive or, if the server cannot, at once."""

import logging
from collections.abc import Iterator

from frepo_core.domain.sizes import readable_size
from frepo_core.errors import BodyEndedError, EndpointError

from ..base.body_sink import BodySink
from ..base.endpoint import Endpoint
from ..base.request import FrepoRequest

log = logging.getLogger(__name__)

PIECE = 256 << 10
RECEPTION = "frepo.reception"  # key of the WSGI environment; frepo-server has handed the body over if it is set


class BodyReception:
    """One body on its way to the sink of an endpoint. It says once how the body ended.

    frepo-server calls `write` and `close` in its workers, never two at once.
    """

    def __init__(self, sink: BodySink, request: FrepoRequest, limit: int | None) -> None:
        self.sink = sink
        self._limit, self._received = limit, 0
        self._error: Exception | None = None
        self._is_open = True
        services = request.services
        self._seconds, self._database = services.settings.database_max_wait, services.database

    def write(self, piece: bytes) -> bool:
        """Hand over a piece. Return False if the body is refused: the application is called then, without the rest."""
        if self._is_open:
            try:
                self._received += len(piece)
                check_size(self._received, self._limit)
                with self._database.request(self._seconds):
                    self.sink.write(piece)
            except Exception as error:  # noqa: BLE001  # `finish` raises it
                self.fail(error)
        return self._is_open

    def fail(self, error: Exception) -> None:
        """Refuse the body with an error of the server: a part of it is lost."""
        self._error = error
        self.close()

    def finish(self) -> None:
        """Say that the body is complete. Raises the error that refused it."""
        if self._error is not None:
            raise self._error
        if self._is_open:
            self._is_open = False
            self.sink.ended(True)

    def close(self) -> None:
        """Say that the body is not complete, unless its end was said already."""
        if self._is_open:
            self._is_open = False
            try:
                with self._database.request(self._seconds):
                    self.sink.ended(False)
            except Exception:
                log.exception("the end of a body could not be noted")


def check_size(size: int, limit: int | None) -> None:
    """Raise `EndpointError` (413) if a body is larger than its limit, in bytes."""
    if limit is not None and size > limit:
        raise EndpointError(413, f"The body is larger than {readable_size(limit)}")


def open_reception(endpoint: Endpoint, request: FrepoRequest, limit: int | None) -> BodyReception:
    """Open the sink of an endpoint for a body of at most `limit` bytes. Raises the sink's errors."""
    assert endpoint.body_sink is not None
    check_size(request.content_length or 0, limit)
    return BodyReception(endpoint.body_sink(request), request, limit)


def receive_body(endpoint: Endpoint, request: FrepoRequest) -> None:
    """Finish the reception of the body, and set `request.body_sink`. Raises the error that refused the body.

    Of a body that frepo-server has not handed over while it arrived, this does all of it.
    """
    reception: BodyReception | None = request.environ.get(RECEPTION)
    if reception is None:
        reception = open_reception(endpoint, request, endpoint.before_body(request) if endpoint.before_body else None)
        try:
            all(reception.write(piece) for piece in _pieces(request))
        except BaseException:
            reception.close()
            raise
    reception.finish()
    request.body_sink = reception.sink


def _pieces(request: FrepoRequest) -> Iterator[bytes]:
    """Yield the body as it arrives. Raises `BodyEndedError` if it ends early."""
    if not request.is_body_readable:
        return
    stream, left, received = request.environ["wsgi.input"], request.content_length, 0
    read = getattr(stream, "read1", stream.read)
    while left is None or received < left:
        try:
            piece = read(PIECE if left is None else min(PIECE, left - received))
        except OSError as error:
            raise BodyEndedError(received) from error
        if not piece:
            if left is not None:
                raise BodyEndedError(received)
            return
        received += len(piece)
        yield piece
