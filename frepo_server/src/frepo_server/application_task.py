"""Answers one request with the application's answer."""

from typing import Any

from waitress.task import WSGITask


class ApplicationTask(WSGITask):  # type: ignore[misc]  # waitress has no types
    """Passes to the application who has decided about this request (`frepo.is_decided`), and when it was complete.
    `frepo.silent_at` is when its client was silent for the first time, None: never.

    `frepo.buffer` is the buffer of its body, which the application has made. `frepo.lend` starts another thread in
    place of this one until the request ends; it returns False if too many are lent already.

    The connection stays open after an answer without a body, such as 304. waitress closes it, like after any answer
    without a Content-Length, but the client needs none: the answer ends with its head (RFC 9112, 6.3).
    """

    _keeps_open = False

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment."""
        environ: dict[str, Any] = super().get_environment()
        environ["frepo.lend"] = self.channel.server.task_dispatcher.lend
        environ["frepo.head_at"] = self.request.head_at
        environ["frepo.is_decided"] = self.request.is_decided
        environ.update(self.request.decided_environ)
        environ["frepo.received_at"] = self.request.completed_at
        environ["frepo.silent_at"] = self.request.silent_at
        if self.request.body_rcv is not None:
            receiver = self.request.body_rcv
            environ["frepo.buffer"] = getattr(receiver, "spool", receiver.buf).buffer
        return environ

    def build_response_header(self) -> bytes:
        """Return the head of the answer."""
        wants_close = self.request.headers.get("CONNECTION", "").lower() == "close"
        self._keeps_open = self.version == "1.1" and not self.has_body and not wants_close
        head: bytes = super().build_response_header()
        self._keeps_open = False
        return head

    def set_close_on_finish(self) -> None:
        """Close the connection after the answer."""
        if not self._keeps_open:
            super().set_close_on_finish()
