"""The client's address behind nginx, and the files that nginx sends."""

import contextlib
import gzip
import json
import os
import socket
import time
import urllib.error
import urllib.request

import pytest

from support.servers import nginx as nginx_server
from support.servers.proftpd import make_certificates

CONTENT = os.urandom(300_000)


@pytest.fixture(scope="module")
def file(local_site):
    """The answer to the upload of a file that nginx sends."""
    return local_site.upload("dump.bin", CONTENT)


@pytest.fixture(scope="module")
def tls(local_site, tmp_path_factory):
    """The same processes behind nginx with TLS: its URL and its CA."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder)
    addresses = [service.address for service in local_site.services]
    with nginx_server.nginx(addresses, certificate=folder) as front:
        yield f"https://{front.address}", folder / "ca.pem"


def identify(site, token, *options):
    return site.curl("/version", "-H", f"X-Auth-Token: {token}", *options).status


@pytest.fixture(scope="module")
def bound_token(local_site):
    """A token for one address that is not an address of the tests."""
    body = {"roles": ["upload.all"], "data": {"allowedIpAddresses": ["127.0.0.9"]}}
    return local_site.api("/auth/token/generate", body)["tokenId"]


def test_a_token_is_bound_to_the_client_behind_nginx(local_site, bound_token):
    statuses = [identify(local_site, bound_token, "--interface", address) for address in ("127.0.0.9", "127.0.0.8")]

    assert statuses == [200, 403]


def test_a_client_cannot_forge_its_address(local_site, bound_token):
    for header in ["X-Forwarded-For", "X-Real-IP", "Forwarded"]:
        for value in ["127.0.0.9", "127.0.0.9, 127.0.0.1", "for=127.0.0.9"]:
            assert identify(local_site, bound_token, "-H", f"{header}: {value}") == 403, (header, value)


def test_links_carry_the_public_host(local_site):
    reply = local_site.push("/repository/file/upload?fileName=a", b"host", "-H", "Host: files.example.org")

    assert reply.json["url"].startswith("http://files.example.org/")


def test_links_carry_https_behind_tls(local_site, tls):
    url, authority = tls
    options = ["--cacert", str(authority), "--connect-to", f"localhost:443:{url.removeprefix('https://')}"]

    reply = local_site.push("https://localhost/repository/file/upload?fileName=a", b"https", *options)

    assert reply.json["url"].startswith("https://localhost/")


def test_a_client_cannot_forge_host_or_scheme_of_links(local_site):
    forged = ["-H", "X-Forwarded-Host: evil.example.org", "-H", "X-Forwarded-Proto: gopher"]

    reply = local_site.push("/repository/file/upload?fileName=a", b"forged", *forged)

    assert reply.json["url"].startswith(f"{local_site.url}/")


@pytest.mark.parametrize("framing", ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
def test_a_body_is_passed_to_the_service_without_buffering(framing):
    """With buffering, nginx would first write the whole body to its own disk."""
    if nginx_server.MISSING:
        pytest.skip(nginx_server.MISSING)
    part = b"x" * 100_000 if "Length" in framing else b"186a0\r\n" + b"x" * 100_000 + b"\r\n"
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        service.settimeout(10)
        front = stack.enter_context(nginx_server.nginx([f"127.0.0.1:{service.getsockname()[1]}"]))
        client = stack.enter_context(socket.create_connection(("127.0.0.1", front.port), 10))

        client.sendall(f"POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n".encode() + part)
        connection = stack.enter_context(service.accept()[0])
        connection.settimeout(10)
        received = 0
        while received < 100_000:
            received += connection.recv(1 << 20).count(b"x")

    assert received == 100_000


def test_nginx_sends_the_range_of_a_local_file(local_site, file):
    for span, start, end in [
        ("0-", 0, None),
        ("100000-", 100_000, None),
        ("-5", 299_995, None),
        ("7-7", 7, 8),
        ("0-999999", 0, None),
    ]:
        reply = local_site.curl(file["url"], "-r", span)

        assert (reply.status, reply.body) == (206, CONTENT[start:end]), span


def test_nginx_sends_the_same_headers_as_the_service(local_site, file):
    """All headers about the content are present once, with the same values."""
    nginx, service = local_site.curl(file["url"]), local_site.curl(direct(local_site, file["url"]))

    assert (nginx.status, nginx.body) == (200, CONTENT)
    told = {"server", "date", "connection", "keep-alive", "via"}
    assert {name: value for name, value in nginx.headers.items() if name not in told} == {
        name: value for name, value in service.headers.items() if name not in told
    }


def direct(site, url):
    return url.replace(site.url, site.services[0].url)


def test_nginx_and_not_the_service_sends_it(local_site, file):
    head = ["-H", "X-Forwarded-For: 192.0.2.1"]

    reply = local_site.curl(direct(local_site, file["url"]), *head)

    assert reply.headers["x-accel-redirect"].startswith("/_blobs/local/")
    assert reply.body == b""


@pytest.mark.parametrize("headers", [{}, {"Range": "bytes=5-7"}], ids=["whole", "range"])
def test_a_file_that_nginx_cannot_find_is_an_uncached_server_error(local_site, file, tmp_path, headers):
    with nginx_server.nginx([local_site.services[0].address], storage=tmp_path) as front:
        url = file["url"].replace(local_site.url, f"http://{front.address}")
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(urllib.request.Request(url, headers=headers))

    answer = caught.value
    assert (answer.status, answer.headers["Content-Type"]) == (500, "application/json")
    assert json.load(answer)["error_code"] == 7016105
    assert "no-store" in answer.headers.get_all("Cache-Control")


def test_a_resumed_download_is_continued_by_nginx(local_site, file):
    etag = local_site.curl(direct(local_site, file["url"]), "-I").headers["etag"]

    replies = [
        local_site.curl(file["url"], "-r", "100-", "-H", f"If-Range: {tag}") for tag in (etag, '"of another content"')
    ]

    assert [(reply.status, reply.body) for reply in replies] == [(206, CONTENT[100:]), (200, CONTENT)]


def test_a_download_resumed_by_its_date_is_continued_by_nginx(local_site, file):
    date = local_site.curl(file["url"], "-I").headers["last-modified"]

    reply = local_site.curl(file["url"], "-r", "100-", "-H", f"If-Range: {date}")

    assert (reply.status, reply.body) == (206, CONTENT[100:])


def test_conditional_requests_work_as_without_nginx(local_site, file):
    for header, status in [
        ("If-None-Match: {etag}", 304),
        ("If-None-Match: *", 304),
        ('If-None-Match: "another"', 200),
        ("If-Modified-Since: {date}", 304),
        ("If-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT", 200),
        ("If-Match: {etag}", 200),
        ('If-Match: "another"', 412),
        ("If-Unmodified-Since: {date}", 200),
        ("If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT", 412),
    ]:
        head = local_site.curl(file["url"], "-I").headers
        condition = header.format(etag=head["etag"], date=head["last-modified"])

        assert local_site.curl(file["url"], "-H", condition).status == status, header


def test_a_later_version_of_the_same_content_has_its_own_date(local_site):
    """nginx knows only the older modification time of the bytes, and would wrongly answer 304."""
    path, content = local_site.collection(), os.urandom(1000)
    local_site.push(path, content)
    date = local_site.curl(newest(local_site, path), "-I").headers["last-modified"]
    time.sleep(1.1)
    local_site.push(path, content)

    reply = local_site.curl(newest(local_site, path), "-H", f"If-Modified-Since: {date}")

    assert (reply.status, reply.body) == (200, content)


def newest(site, path):
    return site.curl(f"{path}/latest?redirect=false", "-H", f"X-Auth-Token: {site.admin}").json["url"]


def test_a_range_out_of_the_content_is_416(local_site, file):
    reply = local_site.curl(file["url"], "-r", "300000-")

    assert (reply.status, reply.headers["content-range"]) == (416, "bytes */300000")


def test_several_ranges_are_answered_with_the_whole_file(local_site, file):
    reply = local_site.curl(file["url"], "-r", "0-9,20-29")

    assert (reply.status, reply.body == CONTENT) == (200, True)


def test_head_is_as_without_nginx(local_site, file):
    reply = local_site.curl(file["url"], "-I")

    assert (reply.status, reply.headers["content-length"]) == (200, str(len(CONTENT)))


def test_nginx_refuses_direct_requests_for_blobs(local_site, file):
    for path in ["/_blobs/", "/_blobs/local/", "/_blobs/local/../../etc/passwd", "/_blobs/{key}"]:
        [(key,)] = local_site.rows("SELECT key FROM object WHERE size = 300000")

        assert local_site.curl(path.format(key=f"local/{key}"), "--path-as-is").status == 404, path


def test_a_protected_file_stays_protected(local_site):
    path = local_site.collection(password="a password-5ecre7")
    content = gzip.compress(os.urandom(1000))
    name = local_site.push(path, content).json["version"]["file"]["filename"]
    admin = ["-H", f"X-Auth-Token: {local_site.admin}"]

    statuses = [
        local_site.curl(f"/repository/file/{name}", *options).status
        for options in ([], ["-H", "X-File-Password: wrong-5ecre7"], admin)
    ]

    assert statuses == [403, 403, 200]
