"""Contents that look like objects of frepo come back as they were: whatever a client stores, a recovery goes on."""

import gzip
import json
import os
import resource
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from types import SimpleNamespace

import pytest

from frepo_core.db import utc_now
from frepo_core.features.compact.encodings.format import MAGIC, Entry, Head
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.journal_files import JournalWriter
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.recovery.sources import RecoveryError
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.upkeep.journal.keys import JournalKey
from support.compressors import zstd
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs, sha256
from support.paths import ROOT
from support.pythons import find_oldest

ID = "2b0a1c5e-7f0e-4a4d-9a3e-3a0d1c2b3f4a"
LITTLE_MEMORY, LITTLE_ROOM = 512 << 20, 64 << 20


def begin(text):
    """Return bytes that begin as an encoded object does, with this head and a right checksum."""
    start = MAGIC + struct.pack("<I", len(text)) + text
    return start + struct.pack("<I", zlib.crc32(start))


HOSTILE = (
    begin(b"[]"),
    begin(b"[" * 60_000),
    begin(b"{" + b'"a":{' * 2_000),
    begin(b"1" * 5_000),
    begin(b"null"),
    begin(b'{"format":1,"sha256":1,"size":-1,"codec":"zstd","segment":0,"stored":[]}'),
    MAGIC,
    MAGIC + b"\xff" * 4,
    MAGIC + b"\xff\xff\x00\x00" + b"[" * 70_000,
    Head(digest=sha256(b"another"), size=1 << 40, stored=600).pack() + b"x" * 88,
)


@pytest.fixture
def ini(ini):
    return ini | {"trash.keep": "30d"}


@pytest.fixture
def collection(services, make_collection, push, sender):
    """A collection with a hostile content in each version, and a last one that is the difference to another."""
    collection = make_collection(30)
    for content in HOSTILE:
        push(collection, content)
    encoded = list(nights(2, 2000))
    for content in encoded:
        push(collection, content)
    assert StoredBlobs(services).encode(*encoded)
    services.feature(RecoveryServices).journal.write_catalogue()
    return collection, dict(enumerate((*HOSTILE, *encoded), 1))


def read(services, collection):
    found = {}
    for version in services.versions.list(collection):
        with services.stored_content.open(version.file.blob) as content:
            found[version.number] = b"".join(iter(lambda content=content: content.read(1 << 16), b""))
    return found


def test_a_recovery_returns_them(collection, recover):
    collection, contents = collection

    new = recover()

    assert 0 == new.report.missing
    assert contents == new.read(collection)


def test_they_come_back_after_they_were_deleted(services, collection, sender, tmp_path):
    collection, contents = collection
    before = utc_now() + timedelta(milliseconds=1)
    kept = {number: content for number, content in contents.items() if number <= len(HOSTILE)}
    orphans = {path: path.read_bytes() for path in (tmp_path / "storage").glob("??/*")}
    for number in kept:
        services.versions.delete(collection, f"v{number}", by=sender)
    services.trash.end(collection, by=sender)
    for path, data in orphans.items():  # as if a second copy had kept them
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(data)

    with services.feature(RecoveryServices).merge("local", lambda text: None, at=before) as merging:
        report = merging.run(merging.find(), by=None)

    assert [] == report.missing
    assert [(collection, number) for number in kept] == sorted(report.in_trash)
    for number in kept:
        services.trash.restore(collection, number, by=sender)
    assert contents == read(services, collection)


@pytest.mark.parametrize("find", [lambda: sys.executable, find_oldest], ids=["this Python", "the oldest"])
def test_the_script_writes_them(collection, tmp_path, find):
    _, contents = collection
    arguments = [find(), ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert (0, f"{len(contents)} contents were written, 0 are missing or damaged") == (
        done.returncode,
        done.stderr.splitlines()[-1],
    )
    (folder,) = (tmp_path / "out/versions").iterdir()
    assert contents == {int(path.name.partition("-")[0]): path.read_bytes() for path in folder.iterdir()}


def test_a_long_name_stops_nothing(services, push, sender, tmp_path):
    """The script adds the number of the version."""
    for name in ("n" * 251 + ".sql", "short.sql"):
        collection = services.collections.create(CollectionChange(limits={}, filename=name), by=sender)
        push(collection.id, name.encode())
    services.feature(RecoveryServices).journal.write_catalogue()
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert (0, "2 contents were written, 0 are missing or damaged") == (done.returncode, done.stderr.splitlines()[-1])


def test_two_deleted_collections_of_one_id_are_both_written(services, push, sender, tmp_path):
    for content in (b"first", b"second"):
        change = CollectionChange(limits={}, filename="dump.sql", id=ID)
        push(services.collections.create(change, by=sender).id, content)
        services.collections.delete(ID, with_versions=True, by=sender)
    services.feature(RecoveryServices).journal.write_catalogue()
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert "2 contents were written, 0 are missing or damaged" == done.stderr.splitlines()[-1]
    written = [path for path in (tmp_path / "out/trash").rglob("*") if path.is_file()]
    assert [b"first", b"second"] == sorted(path.read_bytes() for path in written)


def test_the_script_lets_no_name_command_a_terminal(services, tmp_path):
    services.feature(RecoveryServices).journal.write_catalogue()
    (tmp_path / "storage/catalogue/\x1b]0;a\x07-ffffffff-ffffffff").write_bytes(b"no gzip")
    arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", "--list"]

    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60)

    assert (0, True) == (done.returncode, "cannot be used" in done.stderr)
    assert "\x1b" not in done.stderr


def storage_paths(tmp_path, content):
    """Return the objects of a content in the storage; they can be written to."""
    paths = sorted((tmp_path / "storage").glob(f"??/{sha256(content)}-*"))
    for path in paths:
        path.chmod(0o600)
    return paths


@pytest.fixture
def by_hand(tmp_path):
    """Run the script with little memory, for small files; return what it did, and the sizes of its files."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LITTLE_MEMORY, LITTLE_MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE_ROOM, LITTLE_ROOM))

    def by_hand():
        arguments = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit)
        return done, {path: path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()}

    return by_hand


def test_the_script_waits_for_no_pipe(collection, by_hand, tmp_path):
    collection, contents = collection
    blob = next(iter(storage_paths(tmp_path, contents[1])))
    for path in (blob, tmp_path / "storage/catalogue/99991231T000000Z-ffffffff-ffffffff"):
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    done, written = by_hand()

    assert f"{len(contents) - 1} contents were written, 1 are missing or damaged" == done.stderr.splitlines()[-1]
    assert 2 == done.stderr.count("it is no file"), done.stderr
    assert len(contents) - 1 == len(written)


@pytest.mark.parametrize(
    ("start", "part", "mebi", "end"),
    [(b'{"a":[', b"{},", 20, b"{}]}\n"), (b'{"a":"', b"x", 1024, b"")],
    ids=["values", "text"],
)
def test_the_script_passes_over_a_catalogue_that_would_take_all_memory(
    collection, by_hand, planted, start, part, mebi, end
):
    _, contents = collection
    member = gzip.compress(part * (1 << 20), 1)  # compressed once, and repeated
    planted.write_bytes(gzip.compress(start) + member * mebi + gzip.compress(end))

    done, written = by_hand()

    assert 0 == done.returncode, done.stderr
    assert "99991231T000000Z-ffffffff-ffffffff cannot be used" in done.stderr
    assert len(contents) == len(written)


SEGMENT = 16 << 20
FRAME = zstd.compress(bytes(SEGMENT))


def announce(digest, base=None):
    """Return a small object that says that this content has 64 GiB: each segment is the same frame."""
    head = Head(digest=digest, size=64 << 30, segment=SEGMENT, stored=0, base=base)
    entry = Entry(offset=head.data, length=len(FRAME), window_offset=0, window_length=0, checksum=0, window_checksum=0)
    head = replace(head, stored=head.data + len(FRAME))
    return head.pack() + b"".join(entry.pack(digest, index) for index in range(head.count)) + FRAME


def needs(base, digest, size):
    """Return the difference of a content of `size` bytes to such a base."""
    head = Head(digest=digest, size=size, stored=600, base=base)
    entry = Entry(offset=head.data, length=20, window_offset=0, window_length=9, checksum=0, window_checksum=0)
    return head.pack() + entry.pack(digest, 0) + bytes(20)


def test_the_script_writes_no_more_than_the_records_say(collection, by_hand, tmp_path):
    """One object is larger than its content, one says that it becomes larger, and one needs another that says so."""
    _, contents = collection
    newest = sha256(contents[max(contents)])
    larger, says_so, needs_one = (next(iter(storage_paths(tmp_path, contents[number]))) for number in (1, 2, 3))
    with larger.open("ab") as file:
        file.truncate(1 << 40)
    says_so.write_bytes(announce(sha256(contents[2])))
    needs_one.write_bytes(needs(newest, sha256(contents[3]), len(contents[3])))
    for path in storage_paths(tmp_path, contents[max(contents)]):
        path.write_bytes(announce(newest))

    done, written = by_hand()

    assert 1 == done.returncode
    assert 3 == done.stderr.count("\ndamaged"), done.stderr  # the first bytes of the large one are its content
    assert all(size <= max(map(len, contents.values())) for size in written.values())
    assert not [path for path in written if path.name.endswith(".base")]


@pytest.fixture
def small_files():
    """From the call on, no file may become large, so that a test that fails fills no disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (LITTLE_ROOM, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def planted(tmp_path):
    """The path of a catalogue that would be read first."""
    return tmp_path / "storage/catalogue/99991231T000000Z-ffffffff-ffffffff"


def test_a_large_file_that_is_no_catalogue_is_not_copied(collection, recover, planted, small_files):
    collection, contents = collection
    planted.touch(0o600)
    os.truncate(planted, 1 << 40)
    small_files()

    new = recover()

    assert contents == new.read(collection)
    assert [] != [problem for problem in new.source.problems if problem.startswith(f"catalogue/{planted.name} cannot")]


def test_a_catalogue_without_room_on_the_local_disk_is_passed_over(
    collection, recover, planted, storage, keys, small_files, monkeypatch
):
    """Its beginning is right: whoever can write to a storage can add to it."""
    collection, contents = collection
    planted.write_bytes(storage.path(max(keys())).read_bytes() + bytes(64 << 10))
    os.truncate(planted, 1 << 40)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=LITTLE_ROOM + (2 << 20)))
    small_files()

    new = recover()

    assert contents == new.read(collection)
    assert "has no room for its first" in " ".join(new.source.problems)


def test_a_local_disk_that_is_full_before_ends_the_recovery(collection, recover, monkeypatch):
    """What cannot be copied would be lost."""
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=1 << 20))

    with pytest.raises(RecoveryError, match="is nearly full: set temp_directory"):
        recover()


def write_part(storage, keys, *lines):
    """Write a part of the journal after the newest catalogue, with these lines."""
    head = JournalFile(storage.path(max(keys()))).head | {"frepo": "journal", "since_position": 0}
    body = b"".join(line + b"\n" for line in (json.dumps(head).encode(), *lines))
    end = json.dumps({"end": {"objects": len(lines), "sha256": sha256(body)}}).encode()
    newest = JournalKey.parse(max(keys()))
    content = gzip.compress(body + end + b"\n")
    storage.store(JournalKey(epoch=newest.epoch, number=newest.number + 1).text, BytesIO(content), len(content))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"object":"token","key":["a"],"values":[{"name":"\\ud800"}]}', "half of a surrogate pair"),
        (b'{"object":"token","key":["a"],"values":[{"name":"\xed\xa0\x80"}]}', "invalid continuation byte"),
        (b'{"object":"token","key":["a"],"values":[' + b"{}," * (2 << 20) + b"{}]}", "a line has more than"),
    ],
    ids=["escaped", "bytes", "values"],
)
def test_a_part_with_what_frepo_does_not_write_is_passed_over(collection, storage, keys, recover, line, why):
    collection, contents = collection
    write_part(storage, keys, line)

    new = recover(unverified=True)

    assert contents == new.read(collection)
    assert why in " ".join(new.source.problems)


def test_lines_without_end_in_few_bytes_are_not_read(collection, recover, planted, tmp_path):
    """What each costs is bounded by the bytes that somebody has written."""
    collection, contents = collection
    head = JournalFile(max((tmp_path / "storage/catalogue").iterdir())).head
    with gzip.open(planted, "wb", 1) as file:
        file.write(json.dumps(head).encode() + b"\n" + b'{"object":"version","key":[],"values":[]}\n' * 200_000)

    new = recover(unverified=True)
    script = [sys.executable, ROOT / "docs/recover_by_hand.py", tmp_path / "storage", tmp_path / "out"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)

    assert contents == new.read(collection)
    for said in (" ".join(new.source.problems), done.stderr):
        assert f"{planted.name} cannot be used: " in said
        assert "more lines than so few bytes" in said


def test_objects_of_an_unknown_kind_or_in_the_wrong_place_are_named_and_the_others_are_recovered(
    collection, storage, keys, recover
):
    collection, contents = collection
    path = storage.path(max(keys()))
    file, changed = JournalFile(path), BytesIO()
    writer = JournalWriter(
        changed, "catalogue", {k: v for k, v in file.head.items() if k not in {"frepo", "format", "about"}}
    )
    writer.add("\x1b[2J", ["a"], [{}])
    for name, key, values in file.objects():
        writer.add(name, key, values)
        if name == "version":
            writer.add("wal_segment", key, values)
    writer.add("token", ["a"], [{"name": "late"}])
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(changed.getvalue())

    new = recover(unverified=True)

    assert contents == new.read(collection)
    assert [
        "1 object of the kind '\\x1b[2J', unknown or not in its place",
        f"{len(contents)} objects of the kind 'wal_segment', unknown or not in its place",
        "1 object of the kind 'token', unknown or not in its place",
    ] == list(new.report.unusable)


ODD = {
    3: {"created_at": 5},
    4: {"number": [1]},
    5: {"file": {}},
    6: {"blob": {"digest": None, "storage": [], "size": {}}},
    7: {"file_id": 2**70},
    8: {"checks": [{"at": "never"}]},
}


def test_an_object_of_which_nothing_can_be_made_is_named_and_the_others_are_recovered(
    collection, storage, keys, recover
):
    collection, contents = collection
    path = storage.path(max(keys()))
    file, changed = JournalFile(path), BytesIO()
    head = {name: value for name, value in file.head.items() if name not in {"frepo", "format", "about"}}
    writer = JournalWriter(changed, "catalogue", head)
    for name, key, values in file.objects():
        odd = ODD.get(key[1], {}) if name == "version" else {"roles": 7, "created_at": {}} if name == "token" else {}
        writer.add(name, key, [one | odd for one in values])
    writer.finish()
    path.chmod(0o600)
    path.write_bytes(changed.getvalue())

    new = recover(unverified=True)

    token, *versions = sorted(" ".join(one.split()[:3]) for one in new.report.unusable)
    assert token.startswith("token ")
    assert [f"version {collection} {number}" for number in ODD] == versions, new.report.unusable
    assert {number: content for number, content in contents.items() if number not in ODD} == new.read(collection)
