"""The sink of an endpoint: gets the body of a request while it arrives."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class BodySink(Protocol):
    """What `body_sink` of an endpoint returns: it gets one body, piece by piece.

    Both methods are called in threads that serve requests, not always the same one, and never two at once. They may
    wait for a disk: meanwhile the server reads no more of this body than it keeps in memory, below 1 MiB.
    """

    def write(self, piece: bytes) -> None:
        """Process the next piece of the body, as it arrived.

        An error of frepo that it raises is answered at once, while the client still sends; then `ended(False)` follows.
        """

    def ended(self, ok: bool) -> None:
        """Note the end of the body; called exactly once, after the last piece.

        `ok` is True if the body is complete. Then the view is called, unless this raises an error, which is answered.
        `ok` is False if the connection broke, a timeout or a limit ended the body, `write` failed, the request was
        refused since, or the service stops. Then there is no answer, and an error that this raises is only logged.
        """
