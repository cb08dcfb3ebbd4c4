"""Downloads from the store: if allowed, the client is redirected to a presigned URL of Ceph."""

import gzip
import urllib.error
import urllib.request

import pytest

from frepo_core.settings import load_settings

PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"
ARCHIVE = gzip.compress(b"a dump")


@pytest.fixture
def ini(ini, bucket):
    s3 = {f"fs.awss3v3.{name}": value for name, value in bucket.items()}
    kept = {name: value for name, value in ini.items() if not name.startswith("fs.local.")}
    return kept | s3 | {"fs.adapter": "awss3v3", "fs.redirect_downloads": "true"}


@pytest.fixture
def link(app, admin):
    """Upload; return the URL of the file."""

    def upload(content, name):
        url = f"/repository/file/upload?fileName={name}&_token={admin}"
        return app.post(url, content, content_type="application/octet-stream").json["url"]

    return upload


def fetch(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
        return answer.status, answer.headers, answer.read()


def test_an_attachment_comes_from_the_store(app, link, bucket):
    answer = app.get(link(ARCHIVE, "night.gz"))

    status, headers, body = fetch(answer.location)

    assert (answer.status_int, status, body) == (302, 200, ARCHIVE)
    assert answer.location.startswith(bucket["endpoint"])
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert headers["Content-Type"] == "application/gzip"
    assert headers["Content-Disposition"] == 'attachment; filename="night.gz"'


def test_a_restore_resumes_at_the_store(app, link):
    location = app.get(link(ARCHIVE, "night.gz"), headers={"Range": "bytes=5-"}).location

    assert (206, ARCHIVE[5:]) == fetch(location, Range="bytes=5-")[::2]


def test_what_a_browser_may_show_comes_from_the_service(app, link):
    answer = app.get(link(PICTURE, "a.png"))

    assert (answer.status_int, answer.body) == (200, PICTURE)


@pytest.mark.parametrize(
    ("name", "status"),
    [("If-Match", 200), ("If-Range", 206), ("If-None-Match", 304)],
)
@pytest.mark.filterwarnings("ignore:Content-Type header found in a 304")  # WebTest's lint is stricter than HTTP
def test_conditions_are_answered_by_the_service(app, link, name, status):
    url = link(ARCHIVE, "night.gz")
    etag = app.head(url).headers["ETag"]

    answer = app.get(url, headers={name: etag} | ({"Range": "bytes=0-1"} if name == "If-Range" else {}))

    assert answer.status_int == status


def test_a_client_without_permission_is_not_redirected_to_the_store(app, link, admin, make_token):
    collection = app.post_json(f"/repository/collection?_token={admin}", {"filename": "a.gz"}).json["collection"]["id"]
    pushed = app.post(f"/repository/collection/{collection}/backup?_token={admin}", ARCHIVE, content_type="a/b").json

    app.get(f"/repository/file/{pushed['version']['file']['filename']}", status=403)


def test_a_forged_store_url_is_refused(app, link):
    location = app.get(link(ARCHIVE, "night.gz")).location

    with pytest.raises(urllib.error.HTTPError, match="403") as refused:
        fetch(location.replace("Signature=", "Signature=0"))
    refused.value.close()


def test_redirects_are_off_by_default(ini):
    settings = load_settings({"app.env": "test", "app.secret": "a", "enc.token_phrase": "b"}, {})

    assert (settings.fs_redirect_downloads, settings.fs_accel_redirect) == (False, "")
