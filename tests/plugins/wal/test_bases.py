"""Base backups: compared with their manifests, and what keeps their segments."""

import hashlib
import io
import json
import struct
import tarfile
import time

import pytest

from frepo_wal import base_check
from support.wal import MIB, SYSTEM, name, segment

LABEL = "START WAL LOCATION: {0:X}/{1:X} (file {2})\nSTART TIMELINE: 1\n"


def base_backup(first, last, *, system=SYSTEM, damage=None, leave=(), add=(), algorithm="SHA256", more=b""):
    """Return a base backup as `pg_basebackup -Ft` makes it, which needs the segments from the first to the last."""
    start, stop = first * MIB + 40, last * MIB + 256
    label = LABEL.format(start >> 32, start & 0xFFFFFFFF, name(first)).encode()
    control = struct.pack("<QII", system, 1300, 202209061).ljust(512, b"\0")
    files = {
        "backup_label": label,
        "PG_VERSION": b"15\n" + more,
        "base/1/112": bytes(8192),
        "global/pg_control": control,
    }
    listed = [
        {
            "Path": path,
            "Size": len(content),
            "Checksum-Algorithm": algorithm,
            "Checksum": hashlib.sha256(content).hexdigest(),
        }
        for path, content in files.items()
    ]
    ranges = [{"Timeline": 1, "Start-LSN": _lsn(start), "End-LSN": _lsn(stop)}]
    begin = json.dumps({"PostgreSQL-Backup-Manifest-Version": 1, "Files": listed, "WAL-Ranges": ranges})[:-1] + ",\n"
    end = f'"Manifest-Checksum": "{hashlib.sha256(begin.encode()).hexdigest()}"}}\n'
    files["backup_manifest"] = (begin + end).encode()
    files |= dict.fromkeys(add, b"primary_conninfo = ''\n")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for path, content in files.items():
            if path not in leave:
                info = tarfile.TarInfo(path)
                content = damage if damage is not None and path == "base/1/112" else content
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def _lsn(place):
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


def send(shop, content, collection=None):
    answer = shop.service.request("POST", f"/api/v1/collections/{collection or shop.base}/versions", content)
    assert answer.status == 201, answer.body
    return answer.json["number"]


@pytest.fixture
def work(shop):
    """Run the job."""

    def work(at=shop):
        result = at.service.run("jobs:run", "wal")
        assert result.status == 0, result.errors
        return at.status()

    return work


def test_a_base_backup_that_is_as_its_manifest_says_can_be_restored(shop, work):
    for index in (2, 3):
        shop.put(name(index), segment(index))
    number = send(shop, base_backup(2, 3))

    state = work()

    assert ([number], []) == ([one["base"] for one in state["restorable"]], state["problems"])


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"damage": b"x" * 8192}, "base/1/112 has other bytes"),
        ({"damage": b"x"}, "base/1/112 has 1 bytes instead of 8192"),
        ({"leave": ("base/1/112",)}, "base/1/112 is missing"),
        ({"leave": ("backup_manifest",)}, "has no backup_manifest"),
    ],
)
def test_a_damaged_base_backup_is_a_problem_and_is_not_used(shop, work, made, why):
    for index in (2, 3):
        shop.put(name(index), segment(index))
    send(shop, base_backup(2, 3, **made))

    state = work()

    assert [] == state["restorable"]
    assert [why] == [why for problem in state["problems"] if why in problem]


def test_what_pg_basebackup_writes_for_a_standby_is_no_difference(shop, work):
    for index in (2, 3):
        shop.put(name(index), segment(index))
    send(shop, base_backup(2, 3, add=("standby.signal", "postgresql.auto.conf")))

    assert [] == work()["problems"]


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("made", [{"damage": b"x" * 8192}, {"damage": b"x"}, {"leave": ("base/1/112",)}])
def test_no_good_base_backup_leaves_for_a_damaged_one(shop, work, monkeypatch, made, size):
    if size == "large":
        monkeypatch.setattr(base_check, "_INLINE", 100)  # the job compares it
    good = [send(shop, base_backup(number, number, more=b"%d" % number)) for number in (2, 3, 4)]
    work()

    bad = send(shop, base_backup(5, 5, **made))
    work()
    version = shop.service.request("GET", f"/api/v1/collections/{shop.base}/versions/v{bad}").json

    assert ("broken", True) == (version["verdict"], version["quarantined"])
    assert good == [number for number in shop.service.versions(shop.base) if number != bad]


def test_a_backup_without_a_manifest_is_not_condemned(shop, work):
    number = send(shop, base_backup(2, 3, leave=("backup_manifest",)))
    work()

    version = shop.service.request("GET", f"/api/v1/collections/{shop.base}/versions/v{number}").json
    assert (False, True) == (version["quarantined"], version["verdict"] not in {"broken", "suspicious"})


def test_other_contents_have_no_result_of_the_check(shop):
    number = send(shop, b"INSERT INTO a VALUES(1);\n")
    checks = shop.service.context("wal").service.checks(shop.base, number)

    assert checks and "wal_base" not in {one.name for one in checks}


def test_of_other_checksums_the_sizes_are_compared(shop, work):
    for index in (2, 3):
        shop.put(name(index), segment(index))
    send(shop, base_backup(2, 3, algorithm="CRC32C"))

    assert [] == work()["problems"]


def test_the_state_says_what_is_missing_and_what_can_be_restored(shop, work):
    for index in (2, 3, 4, 7, 8):
        shop.put(name(index), segment(index), headers={"X-Frepo-Wal-Waiting": "2"})
    base = send(shop, base_backup(2, 3))

    state = work()

    assert [{"first": name(5), "last": name(6), "count": 2}] == state["missing"]
    assert [base] == [one["base"] for one in state["restorable"]]
    assert (name(8), 2, str(SYSTEM), 1) == (state["newest"], state["waiting"], state["system"], state["timeline"])
    assert [f"2 segments are missing: {name(5)} to {name(6)}"] == state["problems"]
    found = shop.service.request("GET", f"/api/v1/collections/{shop.wal}").json
    assert "problem" == found["state"]


def test_a_gap_that_is_filled_is_no_problem_any_more(shop, work):
    for index in (2, 4):
        shop.put(name(index), segment(index))
    send(shop, base_backup(2, 2))
    work()

    shop.put(name(3), segment(3))

    assert ([], []) == (work()["missing"], shop.status()["problems"])
    assert "ok" == shop.service.request("GET", f"/api/v1/collections/{shop.wal}").json["state"]


def test_a_new_archive_has_no_segments_and_lacks_none(shop):
    empty = shop.status()
    shop.put("00000002.history", b"1\t0/5000000\tno recovery target specified\n")

    assert (0, None, []) == (empty["files"], empty["newest"], empty["missing"])
    assert ["there is no base backup, so nothing can be restored"] == empty["problems"]
    assert 1 == shop.status()["files"]


def test_an_archive_without_a_base_backup_says_so(shop, work):
    shop.put(name(3), segment(3))

    assert ["there is no base backup, so nothing can be restored"] == work()["problems"]


def test_a_segment_that_has_waited_reaches_until_it_was_written(shop, work):
    """Its arrival says nothing about what is in it: PostgreSQL would end before a time after that."""
    send(shop, base_backup(2, 3))
    shop.put(name(2), segment(2))

    shop.put(name(3), segment(3), headers={"X-Frepo-Wal-Written": str(int(time.time()) - 100)})
    [waited] = work()["restorable"]
    shop.put(name(4), segment(4))
    [fresh] = work()["restorable"]

    assert waited["since"] == waited["until"] == fresh["since"] < fresh["until"]


def test_many_segments_that_wait_on_the_primary_are_a_problem(shop, work):
    send(shop, base_backup(2, 2))
    shop.put(name(2), segment(2), headers={"X-Frepo-Wal-Waiting": "65"})

    assert ["65 segments wait on the primary"] == work()["problems"]


def test_segments_stay_as_long_as_a_base_backup_needs_them_in_the_trash_too(shop, work):
    for index in range(8):
        shop.put(name(index), segment(index))
    shop.put(f"{name(1)}.00000028.backup", b"x")
    shop.put("00000002.history", b"1\t0/5000\tx\n")
    first, _ = send(shop, base_backup(2, 3)), send(shop, base_backup(5, 6))

    work()
    kept = shop.service.versions(shop.wal)
    shop.service.request("DELETE", f"/api/v1/collections/{shop.base}/versions/v{first}")
    work()
    kept_for_the_trash = shop.service.versions(shop.wal)
    shop.service.request("DELETE", f"/api/v1/collections/{shop.base}/trash/{first}")
    work()

    assert [3, 4, 5, 6, 7, 8, 10] == kept == kept_for_the_trash
    assert [6, 7, 8, 10] == shop.service.versions(shop.wal)
    assert 404 == shop.get(name(1)).status


def test_a_base_backup_of_another_cluster_deletes_nothing(shop, work):
    for index in range(4):
        shop.put(name(index), segment(index))
    send(shop, base_backup(3, 3, system=SYSTEM + 1))

    state = work()
    assert [f"base backups are of another cluster, {SYSTEM + 1}"] == state["problems"]
    assert [] == state["restorable"]
    assert [1, 2, 3, 4] == shop.service.versions(shop.wal)


def test_a_lock_keeps_a_segment(shop, work):
    for index in range(4):
        shop.put(name(index), segment(index))
    shop.service.request("PATCH", f"/api/v1/collections/{shop.wal}/versions/v1", {"pinned": True})
    send(shop, base_backup(3, 3))

    work()

    assert [1, 4] == shop.service.versions(shop.wal)


def test_a_full_archive_refuses_and_evicts_nothing(frepo_service, make_shop):
    shop = make_shop()
    frepo_service.request("PATCH", f"/api/v1/collections/{shop.wal}", {"limits": {"versions": 2}})
    statuses = [shop.put(name(index), segment(index)).status for index in range(3)]

    assert [201, 201] == statuses[:2]
    assert statuses[2] >= 400
    assert [1, 2] == frepo_service.versions(shop.wal)
