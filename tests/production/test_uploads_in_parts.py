"""Uploads in parts behind nginx: its processes take the parts, and each upload goes to the host that has its file."""

import base64
import hashlib

import pytest

from support.servers import nginx as nginx_server

CONTENT = b"".join(b"insert into a values (%d);\n" % number for number in range(20_000))
STEP = 100_000
UPLOADS = "/api/v1/uploads"
TUS = ("-H", "Tus-Resumable: 1.0.0")


@pytest.fixture
def versions(local_site):
    """The path of the versions of a new collection."""
    return f"/api/v1/collections/{local_site.collection().split('/')[3]}/versions"


def create(site, url, versions):
    """Create an upload at an address; return its path."""
    collection = base64.b64encode(versions.split("/")[4].encode()).decode()
    about = ["-H", f"Upload-Metadata: collection {collection}", "-H", f"Upload-Length: {len(CONTENT)}"]
    reply = site.curl(url + UPLOADS, "-X", "POST", "-H", f"X-Auth-Token: {site.admin}", *TUS, *about)
    assert reply.status == 201, reply.body
    assert reply.headers["location"].startswith(f"{url}/")
    return reply.headers["location"].removeprefix(url)


def send_all(site, url, path):
    """Send the content in parts; return the answers' statuses."""
    statuses = []
    for at in range(0, len(CONTENT), STEP):
        about = ["-H", f"Upload-Offset: {at}", "-H", "Content-Type: application/offset+octet-stream"]
        options = ["-X", "PATCH", "--data-binary", "@-", "-H", f"X-Auth-Token: {site.admin}", *TUS, *about]
        statuses.append(site.curl(url + path, *options, content=CONTENT[at : at + STEP]).status)
    return statuses


def stored(site, versions):
    """Return the SHA-256 of a collection's versions."""
    listed = site.curl(versions, "-H", f"X-Auth-Token: {site.admin}").json["items"]
    return [one["sha256"] for one in listed]


def test_an_upload_in_parts_goes_through_nginx(local_site, versions):
    path = create(local_site, local_site.url, versions)

    assert {204} == {*send_all(local_site, local_site.url, path)}
    assert [hashlib.sha256(CONTENT).hexdigest()] == stored(local_site, versions)


@pytest.mark.costly
def test_an_upload_goes_to_the_host_that_its_id_names(local_site, versions, start_service, tmp_path):
    own = {"UPLOADS_HOST": "backup9", "UPLOADS_DIRECTORY": str(tmp_path / "uploads")}
    names = ("APP_SECRET", "ENC_TOKEN_PHRASE", "SECURITY_ADMIN_TOKEN", "DATABASE_URL", "FS_LOCAL_DIRECTORY")
    other = start_service(**{name: local_site.environment[name] for name in names}, **own)
    addresses = [service.address for service in local_site.services]
    path = create(local_site, other.url, versions)
    astray = local_site.curl(path, "--head", "-H", f"X-Auth-Token: {local_site.admin}", *TUS)
    with nginx_server.nginx(addresses, hosts={"backup9": [other.address]}) as front:
        statuses = send_all(local_site, f"http://{front.address}", path)

    assert path.startswith(f"{UPLOADS}/backup9-")
    assert (503, True) == (astray.status, int(astray.headers["retry-after"]) > 0)
    assert "upload-offset" not in astray.headers
    assert {204} == {*statuses}
    assert [hashlib.sha256(CONTENT).hexdigest()] == stored(local_site, versions)
