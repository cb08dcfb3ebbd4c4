"""A storage of encoded contents in memory, with chains of any depth."""

import hashlib
from io import BytesIO

from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.encodings.decoder import DecodedContent


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class EncodedObjects:
    """Objects and raw contents by their SHA-256."""

    def __init__(self, segment_size=None):
        self.segment_size = segment_size
        self.objects = {}
        self.raw = {}

    def add_raw(self, content):
        self.raw[sha256(content)] = content
        return sha256(content)

    def add(self, content, base=None, **more):
        """Encode a content, against the one with the digest `base` if it is given; return its digest."""
        digest, target = sha256(content), BytesIO()
        about = None
        if base:
            reader = self.open_base(base)
            about = Base(content=reader, digest=base, size=reader.seek(0, 2))
        encode(
            BytesIO(content),
            target,
            digest=digest,
            size=len(content),
            base=about,
            segment_size=self.segment_size,
            **more,
        )
        self.objects[digest] = target.getvalue()
        return digest

    def add_chain(self, contents):
        """Encode each against the next one, and the last one alone; return their digests."""
        digests = [self.add(contents[-1])]
        for content in reversed(contents[:-1]):
            # What is stored already stays: a content cannot be its own base, directly or through others.
            is_known = sha256(content) in self.objects
            digests.append(sha256(content) if is_known else self.add(content, digests[-1]))
        return digests[::-1]

    def open(self, digest):
        return DecodedContent(BytesIO(self.objects[digest]), digest=digest, open_base=self.open_base)

    def open_base(self, digest):
        if digest in self.raw:
            return BytesIO(self.raw[digest])
        return DecodedContent(BytesIO(self.objects[digest]), digest=digest, open_base=self.open_base, is_base=True)
