"""Lists of contents, made in a process of their own as the service makes them."""

import io
import json
import zlib

import pytest

from frepo_core.plugins import BoundPartReader, Part
from frepo_parts import frepo_part_readers
from frepo_parts.listing_process import Limits, list_content, unpacked

NAMES = ("name", "kind", "size", "rows", "mode", "modified", "target", "refusal", "place")
READERS = {one.name: one for one in frepo_part_readers()}


class Listed:
    """The parts of a content by name, and the reason why there are none."""

    def __init__(self, content, packed):
        found = json.loads(zlib.decompress(packed))
        self.content, self.reason, self.reader = content, found.get("reason", ""), found.get("reader")
        self.items = [Part(**dict(zip(NAMES, row, strict=True))) for row in found.get("parts", ())]
        self.parts = {part.name: part for part in self.items}

    def extract(self, name):
        """Return the bytes of a part, which are as many as its size says."""
        part = self.parts[name]
        found = b"".join(READERS[self.reader].extract(unpacked(io.BytesIO(self.content)), part))
        assert part.size == len(found)
        return found


@pytest.fixture(scope="session")
def listed():
    """List a content."""

    def listed(content, *, memory=512 << 20, seconds=60, size=1 << 20):
        readers = [BoundPartReader(plugin="parts", reader=one) for one in READERS.values()]
        limits = Limits(memory=memory, seconds=seconds, size=size)
        return Listed(content, list_content(io.BytesIO(content), len(content), readers, limits, lambda: None))

    return listed
