"""Members of archives that the real programs made, and of hostile ones."""

import gzip
import io
import os
import signal
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from frepo_core.plugins import BoundPartReader, StorageUnavailable
from frepo_parts import frepo_part_readers, listing_host
from frepo_parts.listing_process import Limits, list_content
from support.dumps.programs import run

FILES = {"etc/hosts": b"127.0.0.1 localhost\n", "etc/nginx/nginx.conf": b"worker;\n" * 9000, "etc/empty": b""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "etc/long").mkdir()
    (folder / "etc/long" / ("ä" * 100)).write_bytes(b"long")
    (folder / "etc/link").symlink_to("hosts")
    (folder / "etc/hard").hardlink_to(folder / "etc/hosts")
    return folder


@pytest.mark.parametrize("form", ["--format=gnu", "--format=pax", "-z"])
def test_members_of_tar_are_listed_and_given(folder, listed, form):
    found = listed(run("tar", "-c", "--sort=name", form, "etc", folder=folder))

    assert "" == found.reason
    assert {"etc/", "etc"} & found.parts.keys()
    same = {"etc/hard", "etc/hosts"}  # the first of both is the file
    (file,) = (name for name in same if found.parts[name].kind == "file")
    (link,) = same - {file}
    assert (file, "hard link") == (found.parts[link].target, found.parts[link].kind)
    assert FILES["etc/hosts"] == found.extract(file)
    assert ("link", "hosts") == (found.parts["etc/link"].kind, found.parts["etc/link"].target)
    assert FILES["etc/nginx/nginx.conf"] == found.extract("etc/nginx/nginx.conf")
    assert b"" == found.extract("etc/empty")
    assert b"long" == found.extract("etc/long/" + "ä" * 100)
    assert 0o644 == found.parts["etc/nginx/nginx.conf"].mode & 0o644


def test_members_of_zip_are_listed_and_given(folder, listed):
    run("zip", "-q", "-r", "-y", "a.zip", "etc", folder=folder)
    content = (folder / "a.zip").read_bytes()
    for found in (
        listed(content),
        listed(gzip.compress(content)),
        listed(run("zip", "-q", "-r", "-", "etc", folder=folder)),
    ):
        assert "" == found.reason
        assert FILES == {name: found.extract(name) for name in FILES}
    assert "link" == listed(content).parts["etc/link"].kind


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return bytearray(buffer.getvalue())


def test_members_that_overlap_are_refused(listed):
    bomb = zipped(a=b"a" * 5000, b=b"b" * 5000)
    first, second = (bomb.index(b"PK\x01\x02", start) for start in (0, bomb.index(b"PK\x01\x02") + 4))
    struct.pack_into("<L", bomb, second + 42, struct.unpack_from("<L", bomb, first + 42)[0])

    assert "overlap" in listed(bytes(bomb)).reason


def test_a_member_that_is_larger_than_it_says_or_has_another_checksum_ends(listed):
    for offset, value in ((24, 4000), (16, 7)):  # the unpacked size, the checksum
        bomb = zipped(a=b"a" * 5000)
        struct.pack_into("<L", bomb, bomb.index(b"PK\x01\x02") + offset, value)
        found = listed(bytes(bomb))

        with pytest.raises(StorageUnavailable, match="damaged"):
            found.extract("a")


def test_a_member_that_could_fill_a_disk_is_refused(listed):
    bomb = zipped(a=b"a" * 5000)
    struct.pack_into("<L", bomb, bomb.index(b"PK\x01\x02") + 24, 4_000_000_000)

    assert "unpacks to more" in listed(bytes(bomb)).parts["a"].refusal


def tarred(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, size in members:
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(bytes(size)))
    return buffer.getvalue()


def test_a_damaged_tar_has_no_list(listed):
    whole = tarred(("a", 5000), ("b", 5000))

    for broken in (whole[:3000], whole[:5632] + b"x" * 512 + whole[6144:], whole[:6144], whole[:11264]):
        assert "" != listed(broken).reason


def test_too_many_parts_are_not_listed_in_part(listed):
    many = tarred(*((f"{number:060}", 0) for number in range(3000)))

    assert 3000 == len(listed(many).parts)
    assert "too many" in listed(many, size=4000).reason
    assert "too many" in listed(tarred(("n" * 5000, 0))).reason


def test_what_has_no_list_says_why(listed):
    for content, words in {
        b"\xfd7zXZ\x00" + bytes(100): "by its sender, with xz",
        b"-----BEGIN PGP MESSAGE-----\n": "encrypted",
        b"age-encryption.org/v1\n": "encrypted",
        b"just a text": "no reader",
        b"": "no reader",
        gzip.compress(tarred(("a", 500_000)))[:-200]: "damaged",
        gzip.compress(b"PK\x03\x04" + bytes(2000)): "damaged",
        b"PGDMP\x01\x0e\x00\x04\x08\x01" + b"\xff" * 4000: "damaged",
    }.items():
        assert words in listed(content).reason, content[:20]


def test_a_list_that_needs_too_much_memory_or_time_is_none(listed):
    # One name of 400 MB: tarfile reads it into the memory.
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 400_000_000
    large = member.tobuf(tarfile.GNU_FORMAT) + bytes(8_000_000)

    assert listed(large + bytes(400_000_000), memory=300 << 20).reason
    slow = b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n" + b"INSERT INTO a VALUES(1);\n" * 400_000 + b"COMMIT;\n"
    assert "parts.seconds" in listed(slow, seconds=1).reason
    short = slow.replace(b"INSERT INTO a VALUES(1);\n" * 399_999, b"")
    assert not listed(short).reason  # a process that has failed is not used for the next content


@pytest.fixture
def packed():
    """List a content that is read from a file; return the list."""
    readers = [BoundPartReader(plugin="parts", reader=one) for one in frepo_part_readers()]
    limits = Limits(memory=512 << 20, seconds=60, size=1 << 20)
    return lambda file, size, tick=lambda: None: list_content(file, size, readers, limits, tick)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("whom", ["child", "both"])
def test_a_process_that_somebody_ends_says_nothing_of_the_content(packed, number, whom, monkeypatch):
    """The end of the service ends it, and the list would be none for ever."""
    hosts, ticks = [], []
    real = listing_host._kept
    monkeypatch.setattr(
        listing_host,
        "_kept",
        lambda: hosts.append(real() or listing_host._start("frepo_parts.listing_process")) or hosts[-1],
    )

    def end():
        ticks.append(1)
        if len(ticks) == 3:
            host = hosts[-1].pid
            children = Path(f"/proc/{host}/task/{host}/children").read_text().split()
            os.kill(int(children[0]), number)
            if whom == "both":
                os.kill(host, number)

    content = tarred(*((f"{name}", 600_000) for name in range(20)))
    with pytest.raises(OSError, match="ended before"):
        packed(io.BytesIO(content), len(content), end)
    assert b"parts" in zlib.decompress(packed(io.BytesIO(content), len(content)))


def test_a_content_that_ends_early_is_not_called_damaged(packed):
    """Its storage has not given all of it; the backup itself can be whole."""
    content = tarred(("a", 500_000), ("b", 500_000))

    with pytest.raises(OSError, match="ends early"):
        packed(io.BytesIO(content[:600_000]), len(content))
