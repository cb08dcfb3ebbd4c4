"""The port for contents that are stored encoded. A feature decodes them; without one, only raw ones are read."""

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, NoReturn, Protocol

from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError

from .decoder_memory import DecoderWait

if TYPE_CHECKING:
    from .ingest import Ingest


@struct
class Form:
    """What an encoded object says of itself: its encoding, the size of its content, and its own size, in bytes.

    `base_digest` is the SHA-256 (hex) of the content that it needs, or None.
    """

    encoding: str
    size: int
    stored_size: int
    base_digest: str | None


class Bases(Protocol):
    """Opens the base of an object, from one of the objects that have it after the other."""

    def open(self, base: str, /) -> BinaryIO:
        """Open the base with this SHA-256 (hex)."""

    def open_other(self, error: Exception, /) -> BinaryIO:
        """Open it from another object, after this error with the one before. Raises the error if there is none."""


class EncodedParts:
    """The parts that a reader opens for clients. In the empty form `open_content` raises, since nothing is decoded."""

    @property
    def is_restoring(self) -> bool:
        """Whether whole contents are decoded for clients of this process, or wait for that."""
        return False

    def open(
        self,
        open_content: Callable[[], BinaryIO],
        start: int,
        length: int | None,
        *,
        size: int,
        wait: DecoderWait,
        is_spooled: bool,
    ) -> BinaryIO:
        """Open `length` bytes from `start` of what `open_content` opens, all if it is None: `size` bytes.

        With `is_spooled`, they are decoded into a temporary file if there is room for it. It has a method `defer(wake)`
        for a server whose thread must not wait: `read` returns no bytes while there are none yet, and `wake` is called
        when there are some.
        Raises `ReadersBusyError` if too many are open and none of them ends within `wait`, and what `open_content`
        raises.
        """
        return open_content()


class Encodings:
    """The empty port, of a service without the feature: what is encoded is an error that says so, never missing."""

    def require(self) -> None:
        """Raise `ConfigurationError` if this process cannot decode."""
        _refuse()

    def open(self, stored: BinaryIO, place: StoredObject, bases: Bases, *, is_verified: bool) -> BinaryIO:
        """Return a seekable reader of the content of the object in `stored`; its `close` closes that, too.

        With `is_verified`, the SHA-256 of a whole read is compared. Raises `DamagedObjectError` if the object is
        damaged, and `ConfigurationError` if this process cannot decode it.
        """
        _refuse()

    def parts(self, spool: "Ingest | None") -> EncodedParts:
        """Return what opens parts for clients. `spool` has the folder for temporary files, None: there are none."""
        return EncodedParts()

    def read_form(self, stored: BinaryIO, digest: str) -> Form | None:
        """Return what the object of the content with this SHA-256 (hex) says of itself; None if it is not encoded.

        Raises `DamagedObjectError` and `ConfigurationError` if it cannot be told.
        """
        return None


def _refuse() -> NoReturn:
    raise ConfigurationError("This service was made without the feature that decodes what is stored compressed")
