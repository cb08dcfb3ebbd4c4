"""The format of sealed objects: what was changed, moved, cut or repeated is found, and names show nothing."""

import hashlib
import subprocess
import sys
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.plugins import StorageUnavailable, is_blob_key
from frepo_core.testing import MemoryStorage
from frepo_sealed.keys import KeyRing
from frepo_sealed.segments import HEAD, SEGMENT, TAG, content_size, sealed_size
from support.paths import ROOT

from .test_contract import KEYS, sealed

STORED = SEGMENT + TAG
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
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_was_changed_is_found(backend, below, damage):
    name, data = stored(below)
    replace(below, name, damage(data))

    with pytest.raises(StorageUnavailable):
        read(backend)


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


def test_a_key_that_is_missing_is_named(backend, below):
    _, data = stored(below)
    only_second = KeyRing([bytes(32)])
    replace(below, only_second.first.name(KEY), data)

    with pytest.raises(
        StorageUnavailable, match=f"sealed with the key {KEYS.first.id.hex()}, which is not in key_file"
    ):
        sealed(below, only_second).open(KEY)


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
