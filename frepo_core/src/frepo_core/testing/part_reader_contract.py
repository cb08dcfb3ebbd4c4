"""What frepo expects of a reader of parts, as tests that the reader's own tests inherit."""

import io
import json

import pytest

from frepo_core.plugins import NotListable, Part, PartReader

_HEAD = 4096
_MAX_PLACE = 64 << 10


class PartReaderContract:
    """Inherit it, and override the fixtures `reader`, `content` and `damaged`."""

    @pytest.fixture
    def reader(self) -> PartReader:
        """Return the reader."""
        raise NotImplementedError("Override the fixture `reader` of the contract of readers of parts")

    @pytest.fixture
    def content(self) -> bytes:
        """Return a content with at least one part that can be given alone."""
        raise NotImplementedError("Override the fixture `content` of the contract of readers of parts")

    @pytest.fixture
    def damaged(self) -> bytes:
        """Return a content of the format that is not whole."""
        raise NotImplementedError("Override the fixture `damaged` of the contract of readers of parts")

    def test_the_format_is_recognized_by_its_start(self, reader: PartReader, content: bytes) -> None:
        """Other contents are left to other readers, also empty and short ones."""
        assert reader.recognizes(content[:_HEAD])
        assert [] == [head for head in (b"", b"a", b"just a text\n" * 400, bytes(_HEAD)) if reader.recognizes(head)]

    def test_each_part_is_given_as_it_was_listed(self, reader: PartReader, content: bytes) -> None:
        """A part comes back as values of JSON, and has as many bytes as its size says."""
        parts = list(reader.list(io.BytesIO(content)))
        given = [part for part in parts if not part.refusal and part.kind != "folder"]

        assert given
        for part in reversed(given):
            kept = Part(**json.loads(json.dumps(vars(part))))
            assert part.size == sum(map(len, reader.extract(io.BytesIO(content), kept)))
            assert len(json.dumps(part.place)) <= _MAX_PLACE

    def test_a_damaged_content_has_no_list(self, reader: PartReader, damaged: bytes) -> None:
        """A list is whole, or there is none: `NotListable` says why."""
        with pytest.raises(NotListable) as caught:
            list(reader.list(io.BytesIO(damaged)))

        assert str(caught.value).strip()
