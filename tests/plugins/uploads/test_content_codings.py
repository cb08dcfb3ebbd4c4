"""An upload in parts with Content-Encoding: parts and offsets are of what is sent, the rest of what it contains."""

import gzip
import hashlib
import os

import pytest
from backports import zstd

from frepo_core.plugins import StorageUnavailable
from frepo_core.services.content.decoding import decoded_stream

CONTENT = b"".join(b"insert into orders values (%d);\n" % number for number in range(50_000))
DIGEST = hashlib.sha256(CONTENT).hexdigest()
COMPRESS = {"gzip": gzip.compress, "zstd": zstd.compress}
REQUIRED = {"Upload-Commit": "required"}

each_coding = pytest.mark.parametrize("coding", COMPRESS)


@pytest.fixture
def runs(root, collection):
    """Return the outcomes of the runs of the collection."""
    return lambda: [run["outcome"] for run in root.get(f"/api/v1/collections/{collection}/runs").json["items"]]


def encoding(coding):
    return {"Content-Encoding": coding}


@each_coding
def test_what_the_parts_contain_is_stored(tus, collection, contents, coding):
    body = COMPRESS[coding](CONTENT)
    path = tus.create(len(body), collection=collection, headers=encoding(coding))
    tus.patch(path, 0, body[:1000])
    before = tus.offset(path)
    done = tus.patch(path, 1000, body[1000:])
    shown = tus.show(path)

    assert (1000, 204, str(len(body))) == (before, done.status_int, done.headers["Upload-Offset"])
    assert [CONTENT] == contents()
    assert (coding, len(body), len(CONTENT)) == (shown["coding"], shown["length"], shown["version"]["size"])


def test_the_first_part_may_come_with_the_creation(tus, collection, contents):
    body = gzip.compress(CONTENT)
    answer = tus.post(len(body), body, collection=collection, headers=encoding("gzip"))

    assert (201, [CONTENT]) == (answer.status_int, contents())


def test_a_plain_file_is_decoded_too(admin_tus):
    body = gzip.compress(CONTENT)
    path = admin_tus.create(len(body), filename="dump.sql", headers=encoding("gzip"))
    admin_tus.patch(path, 0, body)

    assert len(CONTENT) == admin_tus.show(path)["file"]["size"]


@each_coding
def test_the_commit_names_size_and_digest_of_the_content(tus, collection, contents, runs, coding):
    body = COMPRESS[coding](CONTENT)
    path = tus.create(None, body, collection=collection, headers=REQUIRED | encoding(coding))
    early = tus.commit(path, sha256=DIGEST, size=len(CONTENT))
    claims = {"sha256": DIGEST, "size": len(CONTENT), "sent_size": len(body), "exit_statuses": [0]}
    done = tus.commit(path, **claims)

    assert (409, 200) == (early.status_int, done.status_int)
    assert ([CONTENT], "complete", ["ok"]) == (contents(), done.json["version"]["verdict"], runs())
    assert done.json == tus.commit(path, **claims).json


@pytest.mark.parametrize(
    "wrong", [{"sha256": "0" * 64}, {"size": len(CONTENT) + 1}, {"size": len(CONTENT) - 1}, {"sent_size": 1}]
)
def test_other_claims_store_nothing_and_are_a_failed_run(tus, collection, contents, runs, wrong):
    body = gzip.compress(CONTENT)
    for number, statuses in enumerate(([], [0]), 1):
        path = tus.create(len(body), body, collection=collection, headers=REQUIRED | encoding("gzip"))
        refused = tus.commit(path, **wrong, exit_statuses=statuses)
        assert (400, [], ["failed"] * number) == (refused.status_int, contents(), runs())


@each_coding
@pytest.mark.parametrize(
    "spoil", [lambda body: body[:-5], lambda body: body + b"garbage", lambda body: b"no such data"]
)
def test_what_is_not_whole_in_its_coding_is_refused(tus, collection, contents, runs, coding, spoil):
    body = spoil(COMPRESS[coding](CONTENT))
    path = tus.create(len(body), collection=collection, headers=encoding(coding))
    refused = tus.patch(path, 0, body)

    assert (400, 410, [], ["failed"]) == (refused.status_int, tus.head(path).status_int, contents(), runs())
    assert refused.json["detail"].startswith("The content ")


@each_coding
def test_what_exceeds_the_limit_is_not_decoded(tus, root, collection, contents, coding, monkeypatch):
    change = {"limits": {"version_size": 1_000_000, "total_size": 100 << 20}}
    assert 200 == root.call("PATCH", f"/api/v1/collections/{collection}", json=change).status_int
    pieces, right = [], decoded_stream.decoded

    def counted(*of):
        for piece in right(*of):
            pieces.append(piece)
            yield piece

    monkeypatch.setattr(decoded_stream, "decoded", counted)
    body = COMPRESS[coding](os.urandom(100_000)) + COMPRESS[coding](bytes(50 << 20))
    path = tus.create(len(body), collection=collection, headers=encoding(coding))

    assert (413, []) == (tus.patch(path, 0, body).status_int, contents())
    assert sum(map(len, pieces)) <= 3 << 20


def test_noise_that_grows_may_be_as_large_as_the_limit(tus, root, collection, contents):
    noise = os.urandom(100_000)
    change = {"limits": {"version_size": len(noise), "total_size": 100 << 20}}
    assert 200 == root.call("PATCH", f"/api/v1/collections/{collection}", json=change).status_int
    body = gzip.compress(noise)
    path = tus.create(len(body), collection=collection, headers=encoding("gzip"))

    assert 204 == tus.patch(path, 0, body).status_int
    assert [noise] == contents()
    assert 413 == tus.post(3 << 20, collection=collection, headers=encoding("gzip")).status_int


@pytest.mark.parametrize(("began", "part"), [("gzip", "zstd"), (None, "gzip")])
def test_a_part_in_another_coding_is_refused(tus, collection, began, part):
    body = gzip.compress(CONTENT)
    path = tus.create(len(body), collection=collection, headers=encoding(began))

    assert 400 == tus.patch(path, 0, body, encoding(part)).status_int
    assert 204 == tus.patch(path, 0, body, encoding(began)).status_int


def test_an_unknown_coding_is_refused_at_the_creation(tus, collection):
    answer = tus.post(10, collection=collection, headers=encoding("br"))

    assert (400, "Content-Encoding") == (answer.status_int, answer.json["errors"][0]["field"])


def test_after_a_failure_that_passes_it_is_decoded_again(tus, collection, contents, services, monkeypatch):
    service = type(services.contexts["uploads"].service)
    right, failed = service.add_version, []

    def add_version(self, identifier, content, **more):
        if not failed:
            failed.append(content.read(1000))
            raise StorageUnavailable("The storage does not answer")
        return right(self, identifier, content, **more)

    monkeypatch.setattr(service, "add_version", add_version)
    body = gzip.compress(CONTENT)
    path = tus.create(len(body), body, collection=collection, headers=REQUIRED | encoding("gzip"))
    statuses = [tus.commit(path).status_int, tus.commit(path).status_int]

    assert ([503, 200], [CONTENT]) == (statuses, contents())


def test_a_window_that_is_too_large_ends_the_upload_with_its_first_bytes(tus, collection, contents):
    options = {zstd.CompressionParameter.window_log: 28, zstd.CompressionParameter.content_size_flag: 0}
    compressor = zstd.ZstdCompressor(options=options)
    body = compressor.compress(CONTENT) + compressor.flush()
    path = tus.create(len(body), collection=collection, headers=encoding("zstd"))
    first = tus.patch(path, 0, body[:4])
    refused = tus.patch(path, 4, body[4:10])

    assert (204, 415, "gzip, zstd") == (first.status_int, refused.status_int, refused.headers["Accept-Encoding"])
    assert (410, []) == (tus.head(path).status_int, contents())
    assert "needs a window" in tus.show(path)["error"]["message"]
