"""Clients behind an nginx that does not pass Host on: they upload with the setting that `frepo doctor --url` names."""

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from frepo_core.features.doctor.address import check_url
from support.paths import ROOT
from support.servers import nginx
from support.servers.processes import free_port, running_process
from support.tus.client import metadata
from support.tus.wire_client import digests
from support.wire import Client

TOOLS = ROOT / ".venv-clients"
MODULES = TOOLS / "typescript/node_modules"
CONTENT = os.urandom(3 << 20)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
# nginx sends the name of the upstream as Host unless it is told otherwise.
HIDING = """
upstream inner.invalid {{ server {upstream}; }}
server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    proxy_redirect off;  # by default it mends Location, not the links in bodies
    location / {{ proxy_pass http://inner.invalid; }}
}}
"""

pytestmark = pytest.mark.skipif(nginx.MISSING is not None, reason=str(nginx.MISSING))


@pytest.fixture
def hidden(tmp_path, start_service):
    """Start a service behind nginx, with or without the setting; return it and the address of nginx."""
    with contextlib.ExitStack() as stack:

        def hidden(with_setting):
            port, folder = free_port(), tmp_path / "nginx"
            folder.mkdir()
            service = start_service(**({"APP_DOMAIN": f"127.0.0.1:{port}"} if with_setting else {}))
            user = "user root;" if os.geteuid() == 0 else ""
            (folder / "nginx.conf").write_text(nginx.AROUND.format(folder=folder, user=user))
            (folder / "frepo.conf").write_text(HIDING.format(port=port, upstream=service.address))
            command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
            pid = folder / "pid"
            stack.enter_context(running_process(command, folder, lambda: pid.exists() and pid.stat().st_size))
            return service, f"http://127.0.0.1:{port}"

        yield hidden


@pytest.fixture
def content(tmp_path):
    path = tmp_path / "content.bin"
    path.write_bytes(CONTENT)
    return path


def run(*command, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return done.stdout


def with_tus_js_client(service, url, collection, file):
    if not (MODULES / "tus-js-client").exists():
        pytest.skip("tus-js-client is not installed: make services")
    program = ROOT / "tests/support/tus/tus_js_client.cjs"
    run(TOOLS / "bin/node", program, url, service.admin, collection, file, 1 << 20, NODE_PATH=str(MODULES))


def with_curl(service, url, collection, file):
    token, tus = f"X-Auth-Token: {service.admin}", "Tus-Resumable: 1.0.0"
    about = ["-H", f"Upload-Length: {len(CONTENT)}", "-H", f"Upload-Metadata: {metadata(collection=collection)}"]
    common = ["curl", "--fail-with-body", "-sS", "-H", token, "-H", tus]
    where = run(*common, "-X", "POST", *about, "-w", "%header{location}", f"{url}/api/v1/uploads")
    part = ["-H", "Upload-Offset: 0", "-H", "Content-Type: application/offset+octet-stream"]
    run(*common, "-X", "PATCH", *part, "--data-binary", f"@{file}", where)


def with_own_client(service, url, collection, file):
    token = file.with_name("token")
    token.write_text(service.admin)
    token.chmod(0o600)
    more = {"FREPO_URL": url, "FREPO_TOKEN_FILE": str(token), "HOME": str(file.parent)}
    run(Path(sys.executable).with_name("frepo-client"), "push", collection, file, **more)


@pytest.mark.costly
@pytest.mark.parametrize("upload", [with_tus_js_client, with_curl, with_own_client])
def test_clients_follow_the_host_that_is_set(hidden, content, upload):
    service, url = hidden(with_setting=True)
    client = Client(service)
    collection = client.collection()

    upload(service, url, collection, content)

    assert [DIGEST] == digests(client, collection)
    assert ["ok"] == [finding.level for finding in check_url(url)]


def test_doctor_names_the_setting_and_its_value(hidden):
    _, url = hidden(with_setting=False)

    [finding] = check_url(url)

    assert (finding.level, "http://inner.invalid" in finding.message) == ("problem", True)
    assert f"app.domain (APP_DOMAIN) to {url.removeprefix('http://')}" in finding.remedy
