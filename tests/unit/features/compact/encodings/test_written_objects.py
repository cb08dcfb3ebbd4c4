"""What is read again while an object is written, and after it, is compared."""

import hashlib
import random
from dataclasses import replace
from io import BytesIO

import pytest

from frepo_core.errors import DamagedBaseError, DamagedObjectError
from frepo_core.features.compact.encoder import base_index, choice, encoder
from frepo_core.features.compact.encoder.choice import Choice, check_object
from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.encoder.tasks import ObjectFile, Task
from frepo_core.features.compact.encodings.format import MAGIC
from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects, sha256

SEGMENT = 64 << 10


@pytest.fixture
def objects():
    return EncodedObjects(SEGMENT)


@pytest.fixture
def files(tmp_path):
    """Three nights in files."""
    found = []
    for number, content in enumerate(nights(3, 3000)):
        path = tmp_path / str(number)
        path.write_bytes(content)
        found.append(ObjectFile(path=str(path), encoding="raw", digest=sha256(content)))
    return found


def task(content, base, tmp_path):
    size, base_size = ((tmp_path / one.path).stat().st_size for one in (content, base))
    return Task(content=[content], size=size, base=[base], base_size=base_size, target=str(tmp_path / "target"), rate=0)


def test_a_flipped_bit_in_any_byte_of_a_written_object_is_found(objects):
    older, newer = nights(2, 700)
    digest = objects.add(older, objects.add_raw(newer))
    stored = objects.objects[digest]

    assert hashlib.sha256(stored).hexdigest() == check_object(BytesIO(stored), digest)
    for place in range(len(stored)):
        changed = bytearray(stored)
        changed[place] ^= 1 << place % 8
        with pytest.raises(DamagedObjectError):
            check_object(BytesIO(changed), digest)
    for changed in (stored[:-1], stored + b"x"):
        with pytest.raises(DamagedObjectError):
            check_object(BytesIO(changed), digest)


def test_a_base_that_changes_after_it_was_read_is_found():
    older, newer = nights(2, 3000)
    content, target = BytesIO(newer), BytesIO()

    def change(*_):
        if content.tell() == len(newer):
            content.getbuffer()[1000] ^= 1

    with pytest.raises(DamagedBaseError, match="a moment before"):
        encode(
            BytesIO(older),
            target,
            digest=sha256(older),
            size=len(older),
            base=Base(content=content, digest=sha256(newer), size=len(newer)),
            segment_size=SEGMENT,
            keep_going=change,
        )

    assert not target.getvalue().startswith(MAGIC)


def test_a_frame_that_is_decoded_to_other_bytes_is_not_used(monkeypatch):
    (content,) = nights(1, 1000)
    monkeypatch.setattr(encoder, "compress", lambda segment, *more: frames[0](segment[:-1] + b"?", *more))
    frames = [choice.compress]

    with pytest.raises(DamagedObjectError, match="other bytes"):
        encode(BytesIO(content), BytesIO(), digest=sha256(content), size=len(content))


def test_the_base_of_several_contents_is_read_from_start_to_end_once(files, tmp_path, monkeypatch):
    hashed, read = [], base_index.BaseIndex.read.__func__

    def note(cls, content, **more):
        hashed.append(more["digest"])
        return read(cls, content, **more)

    monkeypatch.setattr(base_index.BaseIndex, "read", classmethod(note))
    chosen = Choice()
    codecs = [chosen.choose(task(files[number], files[2], tmp_path), lambda: None).codec for number in (0, 1)]

    assert ["delta", "delta"] == codecs
    assert [files[2].digest] == hashed


def test_what_cannot_be_compressed_is_not_compressed_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "LARGE_SEGMENT", SEGMENT)
    content = random.Random(1).randbytes(100 * SEGMENT)
    (tmp_path / "random").write_bytes(content)
    compressed = []
    monkeypatch.setattr(choice, "compress", lambda segment, _, level: compressed.append(level) or segment)
    monkeypatch.setattr(choice, "encode", None)
    one = ObjectFile(path=str(tmp_path / "random"), encoding="raw", digest=sha256(content))
    about = Task(content=[one], size=len(content), base=[], base_size=0, target=str(tmp_path / "target"), rate=0)

    assert "raw" == Choice().choose(about, lambda: None).codec
    assert [1, 3] * 8 == compressed


@pytest.mark.parametrize("best", [1, 3])
def test_the_level_that_saves_more_of_the_samples_is_used(best, files, tmp_path, monkeypatch):
    used, frame = [], choice.compress
    monkeypatch.setattr(choice, "compress", lambda segment, _, level: frame(segment, None)[: 10 + (level != best)])
    monkeypatch.setattr(encoder, "compress", lambda segment, _, level: used.append(level) or frame(segment, None))
    about = replace(task(files[0], files[1], tmp_path), base=[])

    assert "zstd" == Choice().choose(about, lambda: None).codec
    assert {best} == set(used)
