"""`Content-Encoding` below /api/v1: the content is what the body contains. The first API stores what is sent."""

import base64
import gzip
import hashlib
import os
import tracemalloc
from functools import partial

import pytest
from backports import zstd

from frepo_core.domain.roles import Role
from frepo_core.domain.signatures import repr_digest
from frepo_core.services.content.decoder_memory import PIECES, SMALL_WINDOW, DecoderMemory, DecoderWait
from frepo_core.services.content.decoding import content_codings
from frepo_core.web.content import request_body

pytestmark = pytest.mark.slow

CONTENT = b"".join(b"insert into orders values (%d);\n" % number for number in range(100_000))
NOISE = os.urandom(700_000)
COMPRESS = {"gzip": gzip.compress, "zstd": zstd.compress}
MIB = 1 << 20

each_coding = pytest.mark.parametrize("coding", COMPRESS)


@pytest.fixture
def path(collection):
    return f"/api/v1/collections/{collection}/versions"


@pytest.fixture
def send(root, path):
    """Upload a body with a coding."""

    def send(body, coding, path=path, method="PUT", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return root.call(method, path, body=body, headers={"Content-Encoding": coding, **named})

    return send


def digest(content):
    return repr_digest(hashlib.sha256(content).hexdigest())


def test_the_name_of_a_download_fits_what_is_stored(root):
    """The first API sends the name of the collection, as it always did."""
    collection = root.call("POST", "/api/v1/collections", json={"name": "shop.sql.gz"}).json["id"]
    path = f"/api/v1/collections/{collection}/versions"
    sent = root.call("PUT", path, body=gzip.compress(CONTENT), headers={"Content-Encoding": "gzip"})

    assert 'filename="shop-v1.sql"' in root.get(f"{path}/v1/content").headers["Content-Disposition"]
    first = root.get(f"/repository/file/{sent.json['file_name']}")
    assert 'filename="shop-v1.sql.gz"' in first.headers["Content-Disposition"]


@each_coding
def test_the_content_is_stored_as_it_was_before(send, root, path, coding):
    for content in (CONTENT, NOISE, b"x"):
        answer = send(COMPRESS[coding](content), coding)

        assert (201, len(content), digest(content)) == (
            answer.status_int,
            answer.json["size"],
            answer.headers["Repr-Digest"],
        )
        assert content == root.get(f"{path}/latest/content").body


@each_coding
def test_a_file_is_stored_as_it_was_before(send, root, coding):
    answer = send(COMPRESS[coding](CONTENT), coding, path="/api/v1/files?name=dump.sql", method="POST")

    assert (201, len(CONTENT)) == (answer.status_int, answer.json["size"])


@each_coding
def test_several_members_are_one_content(send, coding):
    halves = CONTENT[:MIB], CONTENT[MIB:]

    assert digest(CONTENT) == send(b"".join(map(COMPRESS[coding], halves)), coding).headers["Repr-Digest"]


@each_coding
def test_the_same_content_plain_and_compressed_is_stored_once(send, root, path, coding, services):
    send(CONTENT, "identity")
    send(COMPRESS[coding](CONTENT), coding)

    assert 1 == len([*services.backends.get("local").list()])


@each_coding
def test_a_body_that_is_not_whole_is_refused(send, root, path, coding):
    for spoil, says in [
        (lambda body: body[:-5], "The body ends before the end of its"),
        (lambda body: body[: len(body) // 2], "The body ends before the end of its"),
        (lambda body: body + b"garbage", "The body is followed by bytes that are no"),
        (lambda body: b"no such data", "The body is no valid"),
        (lambda body: b"", "The body ends before the end of its"),
        (lambda body: body[:-6] + b"\0" + body[-5:], "The body is no valid"),
    ]:
        compress = COMPRESS[coding]
        if coding == "zstd":
            compress = partial(compress, options={zstd.CompressionParameter.checksum_flag: 1})
        answer = send(spoil(compress(CONTENT)), coding)

        assert 400 == answer.status_int
        [error] = answer.json["errors"]
        assert ("Content-Encoding", True) == (error["field"], error["message"].startswith(says)), error
        assert [] == root.get(path).json["items"], spoil


@pytest.mark.costly
def test_what_becomes_a_thousand_times_as_large_is_refused(send):
    answer = send(gzip.compress(bytes(200 * MIB)), "gzip")

    assert 400 == answer.status_int
    assert "becomes more than 1000 times as large" in answer.json["detail"]


@each_coding
def test_the_limit_of_a_version_counts_what_it_contains(make_collection, root, coding):
    path = f"/api/v1/collections/{make_collection(maxOneVersionSize='1MB')}/versions"
    refused = root.call("PUT", path, body=COMPRESS[coding](CONTENT), headers={"Content-Encoding": coding})
    taken = root.call("PUT", path, body=COMPRESS[coding](CONTENT[:900_000]), headers={"Content-Encoding": coding})

    assert (413, 4006, 201) == (refused.status_int, refused.json["code"], taken.status_int)


@pytest.fixture
def count_pieces(monkeypatch):
    """Count what a decoder yields to a module that uses it."""

    def count_pieces(module):
        pieces, right = [], module.decoded
        monkeypatch.setattr(module, "decoded", lambda *of: (pieces.append(each) or each for each in right(*of)))
        return pieces

    return count_pieces


@each_coding
def test_what_exceeds_the_limit_is_not_decoded(make_collection, root, count_pieces, coding):
    path = f"/api/v1/collections/{make_collection(maxOneVersionSize='1MB')}/versions"
    pieces = count_pieces(request_body)
    body = COMPRESS[coding](NOISE[:100_000]) + COMPRESS[coding](bytes(50 * MIB))
    answer = root.call("PUT", path, body=body, headers={"Content-Encoding": coding})

    assert 413 == answer.status_int
    assert sum(map(len, pieces)) <= 3 * MIB


def test_the_limit_of_a_token_counts_what_it_contains(holder):
    small = holder(Role.UPLOAD_ALL, max_file_size=1000)
    coded = {"Content-Encoding": "gzip"}
    answer = small.call("POST", "/api/v1/files?name=a.bin", body=gzip.compress(bytes(1001)), headers=coded)

    assert 413 == answer.status_int


def test_digests_are_of_what_their_headers_say(send):
    body = gzip.compress(CONTENT)
    md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
    right = {"Repr_Digest": digest(CONTENT), "Content_Digest": digest(body), "Content_MD5": md5}
    wrong = [{"Repr_Digest": digest(body)}, {"Content_Digest": digest(CONTENT)}, {"Content_MD5": md5[::-1][2:] + "=="}]

    assert [400] * 3 == [send(body, "gzip", **each).status_int for each in wrong]
    assert 201 == send(body, "gzip", **right).status_int


def test_a_window_that_is_too_large_is_refused_by_its_head(send):
    options = {zstd.CompressionParameter.window_log: 28, zstd.CompressionParameter.content_size_flag: 0}
    compressor = zstd.ZstdCompressor(options=options)
    refused = send(compressor.compress(b"x") + compressor.flush(), "zstd")

    assert (415, "gzip, zstd") == (refused.status_int, refused.headers["Accept-Encoding"])
    assert "needs a window of 268 MB, and may need 134 MB" in refused.json["detail"]


def test_a_client_that_is_gone_ends_the_decoding(app, admin, path, root):
    headers = {"Content-Encoding": "gzip", "Authorization": f"Bearer {admin}"}
    gone = {"waitress.client_disconnected": lambda: True}
    answer = app.put(path, gzip.compress(CONTENT), headers=headers, extra_environ=gone, expect_errors=True)

    assert (400, []) == (answer.status_int, root.get(path).json["items"])


def test_a_request_that_cannot_wait_for_memory_is_told_when_to_come_again(app, admin, path, services):
    headers = {"Content-Encoding": "gzip", "Authorization": f"Bearer {admin}"}
    lends = {"frepo.lend": lambda: False}
    services.ingest.decoder_memory = DecoderMemory(shared=SMALL_WINDOW)
    with services.ingest.decoder_memory.taken(SMALL_WINDOW - PIECES, DecoderWait(seconds=0)):
        answer = app.put(path, gzip.compress(CONTENT), headers=headers, extra_environ=lends, expect_errors=True)
    again = app.put(path, gzip.compress(CONTENT), headers=headers, extra_environ=lends)

    assert (503, "30", 201) == (answer.status_int, answer.headers["Retry-After"], again.status_int)


def test_another_coding_is_refused(send):
    for coding in ["br", "gzip, zstd", "deflate"]:
        answer = send(b"content", coding)

        assert 400 == answer.status_int
        assert f"Expected one of gzip, zstd, not '{coding}'" in answer.json["detail"], coding


def test_a_form_is_sent_without_it(send):
    answer = send(b"--XX--", "gzip", Content_Type="multipart/form-data; boundary=XX")

    assert 400 == answer.status_int
    assert "A form is sent without it" in answer.json["detail"]


def test_the_first_api_stores_what_is_sent(root, collection):
    body = gzip.compress(CONTENT)
    path = f"/repository/collection/{collection}/backup"
    root.call("POST", path, body=body, headers={"Content-Encoding": "gzip"})

    assert body == root.get(f"/api/v1/collections/{collection}/versions/latest/content").body


@pytest.mark.parametrize("settings", [{}, {"compact": "true"}], indirect=True)
def test_the_service_says_what_it_undoes_and_whether_it_compacts(root, settings):
    about = root.get("/api/v1").json

    assert (["gzip", "zstd"], bool(settings)) == (about["content_codings"], about["compacts"])


@pytest.mark.costly
@each_coding
def test_decoding_takes_bounded_memory(coding):
    body = COMPRESS[coding](os.urandom(20 * MIB).hex().encode())
    tracemalloc.start()
    pieces = (body[at : at + MIB] for at in range(0, len(body), MIB))
    found = content_codings.decoded(pieces, coding, DecoderMemory(), DecoderWait(seconds=0))
    size = sum(map(len, found))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 40 * MIB == size
    assert peak < 8 * MIB
