"""The sink of an endpoint: gets the body of a request while it arrives."""

from typing import Protocol, runtime_checkable


@runtime_checkable
class BodySink(Protocol):
    """What `body_sink` of an endpoint returns: it gets one body, piece by piece.

    A sink that only appends to a file may be a `QuickBodySink`. Both methods are called in threads that serve
    requests, not always the same one, and never two at once. They may wait for a disk: meanwhile the server reads
    no more of this body than it keeps in memory, below 1 MiB.
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


class QuickBodySink(BodySink, Protocol):
    """A sink that can take most pieces without waiting, such as one that appends them to a file.

    The thread that reads all connections hands them over itself, which saves the way through another thread. Never two
    calls at once, here either.
    """

    def write_quickly(self, piece: bytes | memoryview) -> bool:
        """Process the next piece, and return True; or do nothing, and return False: then `write` gets it.

        It must not wait: no database, no network, no sync of a disk. The piece is valid only during the call. If it
        raises an error, `write` gets the piece, too, and should raise one that can be answered.
        """
