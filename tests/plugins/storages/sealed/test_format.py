"""The format of sealed objects: what was changed, moved, cut or repeated is found, and names show nothing."""

import hashlib
import subprocess
import sys
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.plugins import BlobDamaged, BlobNotFound, ConfigurationError, StorageUnavailable, is_blob_key
from frepo_core.testing import Fail, FaultyStorage, MemoryStorage
from frepo_sealed.keys import KeyRing
from frepo_sealed.segments import HEAD, SEGMENT, TAG, content_size, sealed_size
from support.paths import ROOT

from .test_contract import KEYS, sealed

STORED = SEGMENT + TAG
PART = "journal/00000001-00000001"
CONTENT = bytes(range(256)) * (SEGMENT * 3 // 256) + b"the rest"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
KEY = f"{DIGEST[:2]}/{DIGEST}-0123456789abcdef"
# An object that an earlier version has stored, with the first key of KEYS; docs/sealed-format.md has it, too.
KNOWN_NAME = (
    "f4/f4f740c6c84db7b69a495b91becd6e3d2da6bd3eaba62b07fb1795302"
    "7be3380fe7784855f02c9ca618d0c497b03fd2089c02e3e1819ae1f"
)
KNOWN = (
    "667265706f207365616c656420310a006829fb8f1a39578e322da0585f4937b7bc9d7522c83780bf11dbd1afcea16ace29bc"
    "441bbfa0c78300000000000000070623ba6aa1f99cd3a8aa69d94ce2f358d10a2df5a4d37b"
)


@pytest.fixture
def below():
    return MemoryStorage()


@pytest.fixture
def backend(below):
    backend = sealed(below)
    backend.store(KEY, BytesIO(CONTENT), len(CONTENT))
    return backend


def stored(below):
    (stat,) = below.list()
    with below.open(stat.key) as file:
        return stat.key, file.read()


def replace(below, name, data):
    below.delete(name)
    below.store(name, BytesIO(data), len(data))


def read(backend, *part):
    with backend.open(KEY, *part) as file:
        return file.read()


def test_an_object_shows_neither_content_nor_digest(backend, below):
    name, data = stored(below)

    assert is_blob_key(name)
    assert len(name) == 3 + 112
    assert DIGEST[:16] not in name
    assert CONTENT[:64] not in data
    assert len(data) == sealed_size(len(CONTENT))


def test_two_contents_alike_are_two_objects_that_differ(backend, below):
    backend.store(KEY[:-1] + "0", BytesIO(CONTENT), len(CONTENT))

    first, second = (below.open(stat.key).read() for stat in below.list())
    assert not {first[at : at + 32] for at in range(HEAD, 4096)} & {second[at : at + 32] for at in range(HEAD, 4096)}


def test_one_name_that_is_sealed_twice_has_other_bytes(backend, below):
    """Two contents under one key and one nonce would show their difference (NIST SP 800-38D, 8)."""
    name, first = stored(below)
    below.delete(name)

    backend.store(KEY, BytesIO(CONTENT), len(CONTENT))

    again, second = stored(below)
    assert (name, len(first)) == (again, len(second))
    assert not {first[at : at + 16] for at in range(HEAD, 4096, 16)} & {
        second[at : at + 16] for at in range(HEAD, 4096, 16)
    }
    assert CONTENT == read(backend)


@given(st.integers(0, 3 * SEGMENT))
def test_sizes_are_computed_without_reading(size):
    assert content_size(sealed_size(size)) == size


@given(st.integers(0, len(CONTENT) + 10), st.integers(0, len(CONTENT)) | st.none())
def test_any_part_is_decrypted(start, length):
    backend = sealed(MemoryStorage())
    backend.store(KEY, BytesIO(CONTENT), len(CONTENT))

    assert read(backend, start, length) == CONTENT[start:][:length]


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def segment(data, number):
    return data[HEAD + number * STORED :][:STORED]


DAMAGES = {
    "a bit of the magic": lambda data: flipped(data, 3),
    "a bit of the key's id": lambda data: flipped(data, 17),
    "a bit of the salt": lambda data: flipped(data, 30),
    "a bit of the size": lambda data: flipped(data, 63),
    "a bit of the content": lambda data: flipped(data, HEAD + 5),
    "a bit of a tag": lambda data: flipped(data, HEAD + STORED - 1),
    "a bit at the end": lambda data: flipped(data, len(data) - 1),
    "two segments exchanged": lambda data: (
        data[:HEAD] + segment(data, 1) + segment(data, 0) + data[HEAD + 2 * STORED :]
    ),
    "a segment repeated": lambda data: data[:HEAD] + segment(data, 0) * 2 + data[HEAD + 2 * STORED :],
    "a segment cut out": lambda data: data[: HEAD + STORED] + data[HEAD + 2 * STORED :],
    "the last segment cut off": lambda data: data[: HEAD + 3 * STORED],
    "cut within a segment": lambda data: data[: HEAD + 100],
    "cut within the head": lambda data: data[:10],
    "the size made smaller and the end cut off": lambda data: (
        data[:56] + (3 * SEGMENT).to_bytes(8, "big") + data[64:-24]
    ),
    "the size made 0": lambda data: data[:56] + bytes(8) + data[64:],
    "the size made 0 and all segments cut off": lambda data: data[:56] + bytes(8),
    "the size made 0 and all segments but the last cut off": lambda data: data[:56] + bytes(8) + data[-24:],
    "the last segment repeated": lambda data: data + data[-24:],
    "a byte at the end": lambda data: data + b"x",
}


def test_what_was_changed_is_found(backend, below):
    name, data = stored(below)
    for what, damage in DAMAGES.items():
        replace(below, name, damage(data))
        with pytest.raises(BlobDamaged):
            pytest.fail(f"{what}: {read(backend)[:10]!r}")


@pytest.mark.parametrize("content", [b"", b"a dump\n"])
def test_each_bit_that_was_flipped_is_found(below, content):
    backend = sealed(below)
    backend.store(KEY, BytesIO(content), len(content))
    name, data = stored(below)

    for at in range(8 * len(data)):
        replace(below, name, data[: at // 8] + bytes([data[at // 8] ^ 1 << at % 8]) + data[at // 8 + 1 :])
        with pytest.raises(StorageUnavailable):
            read(backend)


@given(st.permutations(range(4)).filter(lambda order: order != [0, 1, 2, 3]))
def test_segments_in_another_order_are_found(order):
    below = MemoryStorage()
    backend = sealed(below)
    content = CONTENT[: 3 * SEGMENT] * 2
    backend.store(KEY, BytesIO(content[: 4 * SEGMENT]), 4 * SEGMENT)
    name, data = stored(below)
    replace(below, name, data[:HEAD] + b"".join(segment(data, number) for number in order))

    with pytest.raises(StorageUnavailable):
        read(backend)


@pytest.mark.parametrize("size", [0, 7, SEGMENT, len(CONTENT) - 1])
def test_a_part_after_the_end_is_empty_only_if_the_end_is_that_of_the_content(backend, below, size):
    assert read(backend, len(CONTENT), 10) == read(backend, len(CONTENT) + 1) == b""
    name, data = stored(below)
    replace(below, name, data[:56] + size.to_bytes(8, "big") + data[64:])

    with pytest.raises(StorageUnavailable):
        read(backend, size, 10)


def test_a_part_of_the_journal_under_the_name_of_another_one_is_found(below):
    backend = sealed(below)
    next_part = PART[:-1] + "2"
    for name in (PART, next_part):
        backend.store(name, BytesIO(name.encode()), len(name))
    replace(below, next_part, below.open(PART).read())

    with pytest.raises(BlobDamaged, match="Segment 0"):
        backend.open(next_part).read()


def test_a_part_that_is_sound_can_be_read_next_to_a_damaged_one(backend, below):
    name, data = stored(below)
    replace(below, name, flipped(data, HEAD + STORED + 1))

    assert read(backend, 2 * SEGMENT, 100) == CONTENT[2 * SEGMENT :][:100]
    with pytest.raises(StorageUnavailable, match="Segment 1 of a sealed object is damaged, or was exchanged"):
        read(backend, SEGMENT, 100)


def test_an_object_under_the_name_of_another_one_is_found(backend, below):
    other = KEY[:-1] + "0"
    replace(below, KEYS.first.name(other), stored(below)[1])

    with pytest.raises(StorageUnavailable, match="Segment 0"):
        backend.open(other).read()


def test_a_blob_in_the_clear_below_is_none_of_the_sealed_storage(backend, below):
    other = KEY[:-1] + "0"
    below.store(other, BytesIO(b"clear"), 5)

    assert [stat.key for stat in backend.list()] == [KEY]
    with pytest.raises(BlobNotFound):
        backend.open(other)


def test_nothing_is_stored_with_a_wrong_key_after_the_storage_below_was_away(below, backend):
    storage = FaultyStorage(below, Fail("list", nth=1))
    wrong = sealed(storage, KeyRing([b"w" * 32]))
    wrong.require_right_keys()  # it does not answer, which says nothing about the key

    with pytest.raises(StorageUnavailable, match="are not those of the sealed storage"):
        wrong.store(KEY[:-1] + "0", BytesIO(b"1"), 1)
    assert len(list(below.list())) == 1


def test_a_wrong_key_of_a_storage_that_answers_is_refused(below, backend):
    with pytest.raises(ConfigurationError, match=r"sealed.keys .* are not those of the sealed storage"):
        sealed(below, KeyRing([b"w" * 32])).require_right_keys()


def test_the_key_that_a_part_of_the_journal_needs_is_named(backend, below):
    backend.store(PART, BytesIO(b"1"), 1)
    only_second = KeyRing([bytes(32)])

    with pytest.raises(
        StorageUnavailable, match=f"sealed with the key {KEYS.first.id.hex()}, which is not in key_file"
    ):
        sealed(below, only_second).open(PART)


def test_an_object_of_an_earlier_version_is_read(tmp_path):
    below = MemoryStorage()
    data = bytes.fromhex(KNOWN)
    below.store(KNOWN_NAME, BytesIO(data), len(data))
    path = tmp_path / KNOWN_NAME
    path.parent.mkdir()
    path.write_bytes(data)
    (tmp_path / "keys").write_text(f"# ours\n{bytes(32).hex()}\n{bytes(range(32)).hex()}\n")

    (stat,) = sealed(below).list()
    by_hand = subprocess.run(
        [sys.executable, ROOT / "docs/decrypt_sealed.py", tmp_path / "keys", path], capture_output=True, check=True
    )

    assert sealed(below).open(stat.key).read() == by_hand.stdout == b"a dump\n"
    assert stat.size == 7
    assert stat.key.split("-")[0].split("/")[1] == hashlib.sha256(b"a dump\n").hexdigest()
    assert hashlib.sha256(b"a dump\n").hexdigest() in by_hand.stderr.decode()


def test_a_large_object_is_decrypted_without_frepo(backend, below, tmp_path):
    name, data = stored(below)
    path = tmp_path / name
    path.parent.mkdir()
    path.write_bytes(data)
    (tmp_path / "keys").write_text(bytes(range(32)).hex())

    by_hand = subprocess.run(
        [sys.executable, ROOT / "docs/decrypt_sealed.py", tmp_path / "keys", path], capture_output=True, check=True
    )

    assert by_hand.stdout == CONTENT
