"""Encodes blobs of a service, as the job does, and chains of them."""

import hashlib
from io import BytesIO
from itertools import pairwise

from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.feature import CompactServices

SEGMENT = 64 << 10


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class StoredBlobs:
    """The blobs of a service by their contents."""

    def __init__(self, services, segment_size=SEGMENT):
        self.services = services
        self.segment_size = segment_size

    def row(self, content):
        """Return the row of the content, which may be given by its SHA-256."""
        digest = content if isinstance(content, str) else sha256(content)
        with self.services.database.reading() as session:
            current = (StoredObject.digest == digest, StoredObject.slot == 1, StoredObject.role == "first")
            return session.scalar(select(StoredObject).where(*current).order_by(StoredObject.id))

    def encode(self, content, base=None, *, has_windows=False, **more):
        """Store a content as a delta of the content `base`, or compressed; return whether it was switched."""
        row, target = self.row(content), BytesIO()
        base_row = None if base is None else self.row(base)
        head = self.write_object(row, base_row, target, has_windows=has_windows)
        target.seek(0)
        return self.services.feature(CompactServices).switch.replace(
            row, target, head, digest=sha256(target.getvalue()), **more
        )

    def write_object(self, row, base_row, target, *, has_windows=False):
        reader, about = self.services.chain_reader, None
        if base_row is not None:
            content = reader.open(base_row)
            about = Base(content=content, digest=base_row.digest, size=base_row.size)
        with reader.open(row) as content:
            about_content = {"digest": row.digest, "size": row.size, "segment_size": self.segment_size}
            head = encode(content, target, base=about, has_windows=has_windows, **about_content)
        if about:
            about.content.close()
        return head

    def chain(self, contents, *, newest="raw"):
        """Store each content as a delta of the next one; the last one stays raw, or becomes `zstd`."""
        if newest == "zstd":
            self.encode(contents[-1])
        for older, newer in reversed(list(pairwise(contents))):
            assert self.encode(older, newer)

    def end_superseded(self):
        """Delete what was superseded in the first storage, as if its time was over."""
        self.services.blobs.gate.delete_superseded(self.services.backends.current, 1 << 40, reads=True)

    def expand(self, content):
        return self.services.feature(CompactServices).switch.expand(self.row(content))
