"""Decodes encoded objects for the nucleus: the port of `services/content/encodings.py`."""

from typing import TYPE_CHECKING, BinaryIO, cast

from frepo_core.db.models import StoredObject
from frepo_core.services.content.encodings import Bases, EncodedParts, Encodings, Form

if TYPE_CHECKING:
    from frepo_core.services.content.ingest import Ingest

# Commands make the port, too, and most of them read no content.


class CompactEncodings(Encodings):
    """Decodes the format of docs/compact-format.md."""

    def require(self) -> None:
        """Raise `ConfigurationError` if the extra `compact` is not installed."""
        from .encodings.libraries import require_libraries

        require_libraries()

    def open(self, stored: BinaryIO, place: StoredObject, bases: Bases, *, is_verified: bool) -> BinaryIO:
        """Return a reader of the content, as the port says."""
        from .encodings.decoder import DecodedContent

        content = DecodedContent(
            stored,
            digest=place.digest,
            size=place.size,
            open_base=bases.open,
            open_other_base=bases.open_other,
            is_base=not is_verified,
        )
        return cast(BinaryIO, content)

    def parts(self, spool: "Ingest | None") -> EncodedParts:
        """Return the parts of one reader, as the port says."""
        from .decoded_parts import DecodedParts

        return DecodedParts(spool)

    def read_form(self, stored: BinaryIO, digest: str) -> Form | None:
        """Return what the head says. Raises `DamagedObjectError` if there is no head of an object of this content."""
        from .encodings.format import read_head

        head = read_head(stored, digest)
        return Form(encoding=head.codec, size=head.size, stored_size=head.stored, base_digest=head.base)
