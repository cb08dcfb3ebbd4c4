"""Content that is uploaded in any supported way is downloaded unchanged."""

import base64
import hashlib
import os
import subprocess

import pytest

from support.wire import chunked, cpu_seconds, eventually, temporary_files, traces

LARGE = 3_000_001  # beyond what the server keeps in memory


def fresh(size=100):
    return os.urandom(size)


def digest(content):
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def test_a_raw_body_of_any_size_is_downloaded_unchanged(client):
    for size in [1, 511 << 10, (512 << 10) + 1, LARGE]:
        content = fresh(size)

        assert content == client.content(client.upload(content)), size


def test_the_content_type_of_a_raw_body_does_not_matter(client):
    for content_type in [
        "",
        "application/x-www-form-urlencoded",
        "application/json",
        "text/plain; charset=utf-16",
        "text/plain; charset=no-such-charset",
        "no type at all",
        "multipart/mixed; boundary=XX",
        "application/octet-stream",
    ]:
        content = b"a=1&b=%00&--XX\r\n" + fresh()

        assert content == client.content(client.upload(content, headers={"Content-Type": content_type})), content_type


def test_a_body_without_a_content_type_is_raw(client, wire, post):
    content = fresh()
    reply = wire.send(post("a.bin", f"Content-Length: {len(content)}"), content).reply()

    assert content == client.content(reply)


@pytest.mark.parametrize("sizes", [[1], [5, 1, 7], [1 << 20, 1, LARGE]])
def test_a_chunked_body_of_unknown_length_is_accepted(client, wire, post, sizes):
    pieces = [fresh(size) for size in sizes]
    reply = wire.send(post("a.bin", "Transfer-Encoding: chunked"), chunked(pieces)).reply()

    assert b"".join(pieces) == client.content(reply)


def test_chunk_extensions_and_trailers_are_not_stored(client, wire, post):
    content = fresh(10)
    body = b"a;name=value\r\n" + content + b"\r\n0\r\nTrailer: x\r\n\r\n"
    reply = wire.send(post("a.bin", "Transfer-Encoding: chunked"), body).reply()

    assert content == client.content(reply)


def test_curl_pushes_a_pipe(service, client, tmp_path):
    collection, content = client.collection(), fresh(LARGE)
    (tmp_path / "dump").write_bytes(content)
    command = (
        f"cat dump | curl -sf -T - -X POST -H '{client.auth}' {service.url}/repository/collection/{collection}/backup"
    )
    subprocess.run(command, shell=True, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    version = client.versions(collection)["1"]["details"]

    assert (LARGE, hashlib.sha256(content).hexdigest()) == (version["size"], version["sha256"])


@pytest.mark.parametrize("how", [["--data-binary", "@content"], ["-F", "file=@content"], ["-T", "content", "-XPOST"]])
def test_curl_uploads_a_file(service, client, tmp_path, how):
    content = fresh(LARGE)
    (tmp_path / "content").write_bytes(content)
    url = f"{service.url}/repository/file/upload?fileName=curl.bin"
    command = ["curl", "-sf", "-H", client.auth, *how, url]
    subprocess.run(command, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    name = hashlib.sha256(content).hexdigest()[:10] + "curl.bin"

    assert content == client.download(name).body


def test_expect_100_continue_is_answered_before_the_body(client, wire, post):
    content = fresh()
    wire.send(post("a.bin", f"Content-Length: {len(content)}", "Expect: 100-continue"))
    interim = wire.socket.recv(1024)
    reply = wire.send(content).reply()

    assert (b"HTTP/1.1 100 Continue\r\n\r\n", content) == (interim, client.content(reply))


def test_a_body_that_arrives_byte_by_byte_is_accepted(client, wire, post):
    content = fresh(40)
    wire.send(post("a.bin", f"Content-Length: {len(content)}"), *(bytes([byte]) for byte in content))

    assert content == client.content(wire.reply())


def test_a_large_body_leaves_no_temporary_file(service, client, before):
    client.upload(fresh(LARGE))

    assert before["temporary"] == eventually(before["temporary"], lambda: temporary_files(service))


@pytest.mark.parametrize("how", ["plain", "chunked", "version", "multipart", "base64"])
def test_an_empty_body_is_refused(service, client, wire, post, how):
    reply = {
        "plain": lambda: client.upload(b""),
        "chunked": lambda: wire.send(post("a.bin", "Transfer-Encoding: chunked"), chunked([])).reply(),
        "version": lambda: client.push(client.collection(), b""),
        "multipart": lambda: client.multipart(
            b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n\r\n--XX--\r\n'
        ),
        "base64": lambda: client.upload(b"", encoding="base64"),
    }[how]()

    assert (400, 60003) == (reply.status, reply.json["error_code"])


def encoded(content):
    return base64.b64encode(content)


def test_base64_is_decoded(client):
    for dress in [
        encoded,
        lambda content: b"data:image/png;base64," + encoded(content),
        lambda content: b"  DATA:;base64,\r\n" + encoded(content),
        base64.encodebytes,
        lambda content: b"\r\n".join(encoded(content)[at : at + 1] for at in range(len(encoded(content)))),
    ]:
        for size in (1, 2, 3, 100):
            content = fresh(size)

            assert content == client.content(client.upload(dress(content), encoding="base64")), size


def test_base64_across_the_reading_steps_is_decoded(client):
    for size in ((3 << 18) - 1, 3 << 18, (3 << 18) + 1):
        content = fresh(size)

        assert content == client.content(client.upload(base64.encodebytes(content), encoding="base64")), size


def test_bad_base64_is_refused(service, client, before):
    for content in [
        b"YQ",
        b"YQ=",
        b"Y",
        b"Y!==",
        b"YQ==YQ==",
        b"=",
        b"data:text/plain",
        b"data:" + b"x" * 2000 + b",YQ==",
        "YÄ==".encode(),
        b"_-_-",
        b"YQ==" + b"\n" * (1 << 20) + b"YQ==",
        b"Y" * ((1 << 20) - 4) + b"YQ==" + b"YQ==",
    ]:
        reply = client.upload(content, encoding="base64")

        assert (400, ["form.encoding"]) == (reply.status, list(reply.json["fields"])), content


HEADERS = {
    "Repr-Digest": lambda content: {"Repr-Digest": f"sha-256=:{digest(content)}:"},
    "Content-Digest": lambda content: {"Content-Digest": f"sha-256=:{digest(content)}:"},
    "several": lambda content: {"Repr-Digest": f"sha-512=:AAAA:, sha-256=:{digest(content)}:"},
    "Content-MD5": lambda content: {"Content-MD5": base64.b64encode(hashlib.md5(content).digest()).decode()},
}


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("how", ["upload", "push"])
def test_content_that_does_not_match_its_digest_leaves_nothing(service, client, header, how):
    target = () if how == "upload" else (client.collection(),)
    before = traces(service)
    reply = getattr(client, how)(*target, fresh(LARGE), headers=HEADERS[header](b"other"))

    assert (400, 60007) == (reply.status, reply.json["error_code"])
    assert before == eventually(before, lambda: traces(service))


@pytest.mark.costly
@pytest.mark.own_server
def test_many_small_chunks_cost_little(service, client, wire, post):
    before = cpu_seconds(service)
    reply = wire.send(post("a.txt", "Transfer-Encoding: chunked"), chunked([b"a"] * 600_000)).reply()

    assert (b"a" * 600_000, True) == (client.content(reply), cpu_seconds(service) - before < 6)
