"""Each reader of bytes that somebody else may have written says what is wrong with them, and takes little memory.

A reader is a line in the table. Its bytes are a sound sample in which values were exchanged for odd ones, with right
checksums; and the sample cut, flipped and filled up.
"""

import base64
import contextlib
import copy
import functools
import gzip
import hashlib
import importlib.util
import json
import random
import struct
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from frepo_client.state import Remembered
from frepo_client.uploads.spool import WaitingDump
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.errors import FrepoError
from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.compact.encodings.decoder import DecodedContent
from frepo_core.features.compact.encodings.format import ENTRY_SIZE, MAGIC, Entry, Head
from frepo_core.features.recovery.journal.journal_files import pack_seal
from frepo_core.features.recovery.journal.seals import JournalSeals
from frepo_core.features.recovery.journal_file import JournalDamagedError, JournalFile
from frepo_core.plugins import Identity
from frepo_core.services.composition.facade.reading import _values
from frepo_core.services.content.held_bytes import _read as read_held
from frepo_core.services.content.storages.owner_mark import OwnerMark
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.testing import MemoryStorage
from frepo_core.web.conventions.paging import _decode
from frepo_sealed.keys import KeyRing
from frepo_sealed.segments import Head as SealedHead
from frepo_sealed.segments import Opening
from frepo_uploads.session import State
from frepo_uploads.uploads import _read as read_session
from support.encodings.nights import nights
from support.paths import ROOT
from support.scale import IS_ALL

SEED = 7
MOST_MEMORY = 48 << 20
NESTED = json.loads("[" * 400 + "]" * 400)
ODD = [
    *(None, True, False, [], {}, "", "x" * 3000, "\ud800", "\0", "../../etc/passwd", "2026-13-41T99:99", "2026-05-02"),
    *(0, -1, 1.5, 1e300, 2**31, 2**62, 2**63, 2**64, 10**400, NESTED, {"a": NESTED}, ["x"], [None], {"": {}}),
]
DEEP = [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000]
TEXTS = [b"", b"null", b"[]", b"1", b'"x"', b"9" * 6000, b"NaN", b"\xff\xfe", b"\0" * 600, b"{", *DEEP]
OLDER, NEWER = nights(2, 300)
DIGEST = hashlib.sha256(OLDER).hexdigest()


@functools.cache
def load(name: str) -> Any:
    """Import a script of the documentation."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, one in inner for found in places(one, (*path, key)))]


def exchanged(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return the document with another value in a place; without it, if that is `places`."""
    if not path:
        return value
    document = copy.deepcopy(document)
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    if value is places:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return document


def odd_documents(document: Any) -> list[Any]:
    """Return the document with each value exchanged for each odd one, and with several at once."""
    chance, paths = random.Random(SEED), places(document)
    found = [exchanged(document, path, odd) for path in paths for odd in (*ODD, *([places] if path else []))]
    for _ in range(50):
        changed = document
        outer = [path for path in paths if len(path) == 1]
        for path in chance.sample(outer, min(2, len(outer))):
            changed = exchanged(changed, path, chance.choice(ODD))
        found.append(changed)
    return found if IS_ALL else chance.sample(found, min(120, len(found)))


def odd_bytes(sample: bytes) -> list[bytes]:
    """Return the bytes cut, flipped and with others in between, and texts that are nothing at all."""
    chance = random.Random(SEED)
    cut = [sample[: chance.randrange(len(sample))] for _ in range(40)]
    more = [sample + b"\0", sample + sample, sample + b"x" * 10_000, *TEXTS]
    for _ in range(80):
        data, place = bytearray(sample), chance.randrange(len(sample))
        data[place : place + chance.randrange(4)] = chance.randbytes(chance.randrange(4))
        more.append(bytes(data))
    return cut + more


def dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


# The sample of each format, as a document, and how its bytes are made.


def lines_of(document: Any) -> bytes:
    """Return a catalogue of these lines, with the digest of them."""
    lines = [dumped(line) + b"\n" for line in document] if isinstance(document, list) else [dumped(document) + b"\n"]
    end = {"end": {"objects": len(lines) - 1, "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}}
    return gzip.compress(b"".join([*lines, dumped(end), b"\n"]), 1)


CATALOGUE = [
    {
        "frepo": "catalogue",
        "format": 1,
        "about": "",
        "database": "a" * 32,
        "schema": "0043",
        "version": "0.2.0",
        "made_at": "2026-05-02T01:30:00Z",
        "position": 3,
    },
    {"object": "collection", "key": ["c"], "values": [{"id": "c", "filename": "a.sql"}]},
    {
        "object": "version",
        "key": ["c", 1],
        "values": [{"number": 1, "file": {"requested_name": "a"}, "blob": {"digest": "0" * 64, "size": 1, "key": "k"}}],
    },
    {"object": "file", "key": [1], "values": []},
]


def head_of(fields: Any) -> bytes:
    """Return an object whose head has these fields, with a right checksum."""
    text = dumped(fields).ljust(492)
    start = MAGIC + struct.pack("<I", len(text)) + text
    return start + struct.pack("<I", zlib.crc32(start)) + OBJECT[512:]


def table_of(entries: Any) -> bytes:
    """Return an object whose table has these entries, with right checksums."""
    head, packed = Head(**HEAD), b""
    for index, entry in enumerate(entries):
        with contextlib.suppress(struct.error):  # what does not fit into the entry cannot be in it
            packed += Entry(**entry).pack(DIGEST, index)
    return head.pack() + packed.ljust(head.data - head.table, b"\0") + OBJECT[head.data :]


def make_object() -> tuple[bytes, dict[str, Any], list[dict[str, int]], dict[str, Any]]:
    target, base = BytesIO(), Base(content=BytesIO(NEWER), digest=hashlib.sha256(NEWER).hexdigest(), size=len(NEWER))
    head = encode(BytesIO(OLDER), target, digest=DIGEST, size=len(OLDER), base=base, segment_size=8 << 10)
    data = target.getvalue()
    names = ("offset", "length", "window_offset", "window_length", "checksum", "window_checksum")
    parts = [struct.unpack_from("<QIQIQQ", data, head.table + n * ENTRY_SIZE) for n in range(head.count)]
    fields = json.loads(data[12 : head.table - 4])
    values = {name: getattr(head, name) for name in ("digest", "size", "stored", "base", "segment", "table")}
    return data, fields, [dict(zip(names, part, strict=True)) for part in parts], values


OBJECT, FIELDS, ENTRIES, HEAD = make_object()


PART = JournalKey(epoch=1, number=1)
SEALS = JournalSeals("secret", "phrase")


def sealed_catalogue(seal: Any) -> bytes:
    return lines_of(CATALOGUE) + pack_seal(seal)


KEYS = KeyRing([b"k" * 32])


def sealed_of(document: Any) -> bytes:
    """Return a sealed object whose head says that its content has this size; it has 19 bytes."""
    data = struct.pack(">16s8s32sQ", b"frepo sealed 1\n\0", KEYS.first.id, b"s" * 32, document[0])
    head = SealedHead(data=data, size=19, cipher=KEYS.first.cipher(b"s" * 32, "name"))
    return data + head.seal(0, b"x" * 19)


def cursor_of(document: Any) -> bytes:
    return base64.urlsafe_b64encode(dumped(document)).rstrip(b"=")


SESSION = {
    "id": "sample",
    "place": "p",
    "creator": Identity(token="t" * 64, fingerprint="f" * 12, roles=frozenset()).data(),
    "collection_id": None,
    "length": 9,
    "created_at": "2026-05-02T01:30:00+00:00",
    "touched_at": "2026-05-02T01:30:00+00:00",
    "metadata": {"filename": "a"},
    "offset": 0,
    "epoch": 0,
    "state": State.CREATED.value,
    "silent_since": None,
    "ended_at": None,
}


# The readers.


def decode(data: bytes, folder: Path) -> None:
    with DecodedContent(
        BytesIO(data), digest=DIGEST, size=len(OLDER), open_base=lambda digest: BytesIO(NEWER)
    ) as content:
        assert OLDER == content.read()


def decode_by_hand(data: bytes, folder: Path) -> None:
    script = load("decode_by_hand")
    (folder / "object").write_bytes(data)
    base = hashlib.sha256(NEWER).hexdigest()
    (folder / base[:2]).mkdir(exist_ok=True)
    (folder / base[:2] / f"{base}-{'0' * 16}").write_bytes(NEWER)
    script.write_one(folder, folder / "object", DIGEST, folder / "target")
    assert OLDER == (folder / "target").read_bytes()


def read_seal(data: bytes, folder: Path) -> None:
    (folder / "part").write_bytes(data)
    file = JournalFile(folder / "part")
    file.check()
    if SEALS.find_problem(PART, file.digest, file.seal):
        raise JournalDamagedError("its seal is wrong")


def read_journal(data: bytes, folder: Path) -> None:
    (folder / "part").write_bytes(data)
    JournalFile(folder / "part").check()


def recover_by_hand(data: bytes, folder: Path) -> None:
    (folder / "catalogue").mkdir(exist_ok=True)
    (folder / "catalogue/20260502T013000Z-00000001-00000001").write_bytes(data)
    script = load("recover_by_hand")
    with contextlib.suppress(SystemExit):
        list(script.find_contents(script.read_objects(folder)))


def read_upload(data: bytes, folder: Path) -> None:
    (folder / "sample.json").write_bytes(data)
    if (found := read_session(folder / "sample.json")) is not None:
        assert (found.id, True) == ("sample", found.touched_at >= found.created_at or True)
        assert found.owner is not None


def read_note(data: bytes, folder: Path) -> None:
    storage, mark = MemoryStorage(), OwnerMark.make("a" * 32, 1)
    storage.store(mark.key, BytesIO(data), len(data))
    assert mark.read_note(storage).isprintable()


def read_sealed(data: bytes, folder: Path) -> None:
    head = SealedHead.parse(data[:64], KEYS, "name")
    assert 0 <= head.stored(0) <= 300_000
    Opening(head, BytesIO(data[64:]), 0, skipped=0).read(10)


def read_held_bytes(data: bytes, folder: Path) -> None:
    (folder / "held").write_bytes(data)
    read_held(folder / "held")


def read_keys(data: bytes, folder: Path) -> None:
    for text in (data.decode(errors="surrogateescape"), data.decode("latin-1")):
        for parse in (JournalKey.parse, OwnerMark.parse, parse_digest_in_key):
            parse(text)


def read_cursor(data: bytes, folder: Path) -> None:
    _decode(data.decode("latin-1"), "name")


def read_cursor_of_a_plugin(data: bytes, folder: Path) -> None:
    assert isinstance(_values(data.decode("latin-1")), list)


def read_client_state(data: bytes, folder: Path) -> None:
    remembered = Remembered(["key"])
    Path(remembered._path()).write_bytes(data)
    assert isinstance(remembered.read(), dict)


def read_spool(data: bytes, folder: Path) -> None:
    (folder / "1-c.json").write_bytes(data)
    assert isinstance(WaitingDump(str(folder / "1-c")).collection, str)


@dataclass(frozen=True)
class Reader:
    name: str
    read: Callable[[bytes, Path], None]
    sample: bytes
    document: Any = None
    pack: Callable[[Any], bytes] = dumped
    errors: tuple[type[Exception], ...] = ()


_LINES = b"".join(dumped(line) + b"\n" for line in CATALOGUE)
SEAL = SEALS.make(PART, hashlib.sha256(_LINES).hexdigest(), "")
NOTE = {"about": "", "database": "a" * 32, "epoch": 1, "host": "backup1", "at": "2026-05-02T01:30:00+00:00"}
READERS = [
    Reader("head of an object", decode, OBJECT, FIELDS, head_of, (FrepoError,)),
    Reader("table of an object", decode, OBJECT, ENTRIES, table_of, (FrepoError,)),
    Reader("head, by hand", decode_by_hand, OBJECT, FIELDS, head_of, (ValueError, OSError)),
    Reader("table, by hand", decode_by_hand, OBJECT, ENTRIES, table_of, (ValueError, OSError)),
    Reader("catalogue", read_journal, lines_of(CATALOGUE), CATALOGUE, lines_of, (FrepoError,)),
    Reader("seal of a catalogue", read_seal, sealed_catalogue(SEAL), SEAL, sealed_catalogue, (FrepoError,)),
    Reader("catalogue, by hand", recover_by_hand, lines_of(CATALOGUE), CATALOGUE, lines_of),
    Reader("session of an upload", read_upload, dumped(SESSION), SESSION),
    Reader("note of an owner", read_note, dumped(NOTE), NOTE),
    Reader("sealed object", read_sealed, sealed_of([19]), [19], sealed_of, (FrepoError,)),
    Reader("held bytes", read_held_bytes, b"\1" * 16),
    Reader("keys", read_keys, b"journal/00000001-00000001"),
    Reader("cursor", read_cursor, b"WyJuYW1lIiwgMV0", ["name", 1], cursor_of, (FrepoError,)),
    Reader("cursor of a plug-in", read_cursor_of_a_plugin, b'["name", 1]', ["name", 1]),
    Reader("state of the client", read_client_state, b'{"id": "x"}', {"id": "x"}),
    Reader("spool of the client", read_spool, b'{"collection": "c"}', {"collection": "c", "run": {}}),
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_of_foreign_bytes(reader, tmp_path, monkeypatch):
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    documents = [] if reader.document is None else odd_documents(reader.document)
    packed = []
    for document in documents:
        with contextlib.suppress(
            TypeError, ValueError, LookupError, struct.error
        ):  # a value that the format cannot hold
            packed.append(reader.pack(document))
    reader.read(reader.sample, tmp_path)
    tracemalloc.start()
    try:
        for data in [*packed, *odd_bytes(reader.sample)]:
            tracemalloc.reset_peak()
            try:
                reader.read(data, tmp_path)
            except reader.errors:
                pass
            except Exception as error:
                raise AssertionError(f"{reader.name}: {data[:2000]!r}") from error
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, f"{reader.name}: {data[:2000]!r}"
    finally:
        tracemalloc.stop()
