"""Files of the WAL are stored under their names, once and for ever."""

import gzip
import hashlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.wal import MIB, SYSTEM, name, segment

HISTORY = b"1\t0/5000000\tno recovery target specified\n"


def test_a_segment_is_stored_under_its_name(shop):
    content = segment(3, fill=b"x")

    answer = shop.put(name(3), content)

    assert (201, 1, MIB) == (answer.status, answer.json["version"], answer.json["size"])
    found = shop.get(name(3))
    assert (200, content) == (found.status, found.body)


def test_the_same_content_again_is_stored_once(shop):
    first = shop.put(name(3), segment(3))

    again = shop.put(name(3), segment(3))

    assert (201, 200) == (first.status, again.status)
    assert first.json == again.json
    assert [1] == shop.service.versions(shop.wal)


def test_other_content_under_a_name_is_refused(shop):
    shop.put(name(3), segment(3))

    answer = shop.put(name(3), segment(3, fill=b"x"))

    assert 409 == answer.status
    assert "with other content" in answer.json["detail"]
    assert segment(3) == shop.get(name(3)).body
    assert [1] == shop.service.versions(shop.wal)


@pytest.mark.parametrize("fills", [b"aaaa", b"abcd"])
def test_of_requests_at_once_one_is_stored(shop, fills):
    contents = [segment(3, fill=bytes([one])) for one in fills]
    with ThreadPoolExecutor(len(contents)) as threads:
        statuses = [one.status for one in threads.map(lambda content: shop.put(name(3), content), contents)]

    assert 1 == len(shop.service.versions(shop.wal))
    assert shop.get(name(3)).body in contents
    assert {200, 201} >= {*statuses} if fills == b"aaaa" else statuses.count(409) == 3


def test_two_tokens_cannot_store_two_contents_under_a_name(shop):
    """An idempotency key belongs to a token: the label must decide."""
    service = shop.service
    token = service.make_token("security.administrator")
    shop.put("00000002.history", HISTORY)

    answer = shop.put("00000002.history", HISTORY * 2, token=token)

    assert (409, HISTORY) == (answer.status, shop.get("00000002.history").body)


def test_a_missing_file_is_not_a_missing_archive(shop):
    """PostgreSQL takes the first for the end of the WAL, and promotes."""
    missing = shop.get(name(3))
    gone = shop.service.request("GET", f"/api/v1/collections/{'0' * 8}-0000-4000-8000-{'0' * 12}/wal/{name(3)}")

    assert (404, "missing") == (missing.status, missing.headers["x-frepo-wal"])
    assert (404, None) == (gone.status, gone.headers.get("x-frepo-wal"))


@pytest.mark.parametrize(
    "file", ["00000001000000000000000", "0000000100000000000000zz", "x.history", "latest", "%2E%2E"]
)
def test_a_name_that_postgresql_does_not_give_is_refused(shop, file):
    assert shop.put(file, segment(3)).status in {400, 404, 422}
    assert [] == shop.service.versions(shop.wal)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (name(4), segment(3)),
        (name(3), segment(3)[:-1]),
        (name(3), segment(3, timeline=2)),
        (name(3), b"no WAL" * 1000),
        (name(3), b""),
    ],
    ids=["other place", "cut", "later timeline", "no segment", "empty"],
)
def test_a_content_that_is_not_that_of_its_name_is_refused(shop, file, content):
    answer = shop.put(file, content)

    assert 422 == answer.status
    assert [] == shop.service.versions(shop.wal)


def test_the_first_segment_of_a_timeline_may_begin_as_one_of_the_old_one(shop):
    assert 201 == shop.put(name(5, timeline=2), segment(5, timeline=1)).status


def test_small_files_next_to_segments_are_no_shrink(shop):
    for index in range(4):
        shop.put(name(index), segment(index))
    files = ["00000002.history", f"{name(2)}.00000028.backup"]

    statuses = [shop.put(file, HISTORY).status for file in files]

    assert [201, 201] == statuses
    versions = shop.service.request("GET", f"/api/v1/collections/{shop.wal}/versions").json["items"]
    assert [] == [one for one in versions if one["quarantined"]]
    assert [HISTORY, HISTORY] == [shop.get(file).body for file in files]


def test_a_partial_segment_is_a_file_of_its_own(shop):
    assert 201 == shop.put(name(5), segment(5)).status
    assert 201 == shop.put(f"{name(5)}.partial", segment(5, fill=b"p")).status
    assert 201 == shop.put(f"{name(6)}.partial", bytes(MIB)).status


def test_another_cluster_is_refused(shop):
    shop.put(name(3), segment(3))

    answer = shop.put(name(4), segment(4, system=SYSTEM + 1))

    assert 409 == answer.status
    assert "another cluster" in answer.json["detail"]
    assert [1] == shop.service.versions(shop.wal)


def test_a_segment_that_was_refused_does_not_say_of_which_cluster_the_archive_is(shop):
    sent, arrived = segment(3), segment(3, system=SYSTEM + 1)
    digest = b64encode(hashlib.sha256(sent).digest()).decode()

    assert 400 == shop.put(name(3), arrived, headers={"Content-Digest": f"sha-256=:{digest}:"}).status
    assert 201 == shop.put(name(3), sent).status


def test_the_cluster_is_known_from_the_segments_if_the_value_was_lost(shop):
    shop.put(name(3), segment(3))
    shop.service.context("wal").service.store.delete(f"system/{shop.wal}")

    assert 409 == shop.put(name(4), segment(4, system=SYSTEM + 1)).status
    assert 201 == shop.put(name(4), segment(4)).status


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_a_segment_may_be_compressed_on_the_way(shop, coding):
    compress = gzip.compress
    if coding == "zstd":
        zstd = pytest.importorskip("backports.zstd")
        compress = zstd.compress
    headers = {"Content-Encoding": coding}

    statuses = [shop.put(name(3), compress(segment(3)), headers=headers).status for _ in range(2)]
    other = shop.put(name(3), compress(segment(3, fill=b"x")), headers=headers)

    assert [201, 200, 409] == [*statuses, other.status]
    assert segment(3) == shop.get(name(3)).body


@pytest.mark.parametrize("header", ["Content-Digest", "Repr-Digest"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_content_that_was_changed_on_the_way_is_refused(shop, header, compress):
    sent, arrived = segment(3), segment(3, fill=b"x")
    digest = hashlib.sha256(compress(sent) if header == "Content-Digest" else sent).digest()
    headers = {header: f"sha-256=:{b64encode(digest).decode()}:"}
    if compress is gzip.compress:
        headers["Content-Encoding"] = "gzip"

    answer = shop.put(name(3), compress(arrived), headers=headers)

    assert (400, 60007) == (answer.status, answer.json["code"])
    assert [] == shop.service.versions(shop.wal)


def test_a_form_has_the_content_as_its_file(shop):
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="any"\r\n\r\n'
    form = {"Content-Type": "multipart/form-data; boundary=x"}

    assert 201 == shop.put("00000002.history", head + HISTORY + b"\r\n--x--\r\n", headers=form).status
    assert HISTORY == shop.get("00000002.history").body


def test_a_segment_that_was_deleted_is_stored_again(shop):
    shop.put(name(3), segment(3))
    shop.service.request("DELETE", f"/api/v1/collections/{shop.wal}/versions/v1")

    answers = [shop.put(name(3), segment(3)).status for _ in range(2)]

    assert [201, 200] == answers
    assert segment(3) == shop.get(name(3)).body


def test_a_collection_with_another_strategy_is_no_archive(frepo_service):
    collection = frepo_service.make_collection()

    answer = frepo_service.request("PUT", f"/api/v1/collections/{collection}/wal/{name(3)}", segment(3))

    assert 409 == answer.status


def test_a_token_that_may_only_upload_reads_nothing(shop):
    token = shop.service.make_token("upload.backup")
    shop.put(name(3), segment(3))

    assert 403 == shop.get(name(3), token=token).status
