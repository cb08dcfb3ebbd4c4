"""OpenStack Swift with its S3 API. Each of its four servers is a child process of the tests.

`make services` installs it in a separate environment: its Debian packages take more than 1 GB, and its dependencies
must not mix with frepo's. It does not need memcached, because S3 clients do not use Swift's tokens.
"""

import contextlib
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.paths import ROOT
from support.servers.processes import free_port, running_process

BIN = ROOT / ".venv-swift/bin"
MISSING = None if (BIN / "swift-proxy-server").exists() else "OpenStack Swift is not installed: make services"
ROLES = ["account", "container", "object"]

SECRETS = """\
[swift-hash]
swift_hash_path_suffix = suffix
swift_hash_path_prefix = prefix
[storage-policy:0]
name = gold
default = yes
"""

SERVER = """\
[DEFAULT]
devices = {folder}/devices
mount_check = false
swift_dir = {folder}
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_address = {folder}/no-syslog
"""

STORE = """\
[pipeline:main]
pipeline = {role}-server
[app:{role}-server]
use = egg:swift#{role}
"""

PROXY = """\
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck listing_formats bulk s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
"""
PLAIN = ["catch_errors", "gatekeeper", "healthcheck", "listing_formats", "bulk", "copy", "slo", "dlo"]

RINGS = """
import sys
from swift.common.ring import RingBuilder

for role, port in zip(("account", "container", "object"), map(int, sys.argv[1:])):
    ring = RingBuilder(4, 1, 0)
    place = {"ip": "127.0.0.1", "port": port, "replication_ip": "127.0.0.1", "replication_port": port}
    ring.add_dev(place | {"region": 1, "zone": 1, "device": "disk", "weight": 1.0, "meta": ""})
    ring.rebalance()
    ring.get_ring().save(role + ".ring.gz")
"""


@dataclass(frozen=True, kw_only=True)
class Swift:
    """A running Swift, and the credentials of its only user."""

    endpoint: str
    key: str = "test:tester"
    secret: str = "testing"
    region: str = "us-east-1"


@contextlib.contextmanager
def running_swift() -> Iterator[Swift]:
    ports = {role: free_port() for role in [*ROLES, "proxy"]}
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frepo-swift-")))
        (folder / "devices/disk").mkdir(parents=True)
        (folder / "swift.conf").write_text(SECRETS)
        _run_python(RINGS, folder, *(str(ports[role]) for role in ROLES))
        filters = "".join(f"[filter:{name}]\nuse = egg:swift#{name}\n" for name in PLAIN)
        for role, port in ports.items():
            special = PROXY + filters if role == "proxy" else STORE.format(role=role)
            (folder / f"{role}.conf").write_text(SERVER.format(folder=folder, port=port) + special)
            stack.enter_context(_server(role, port, folder))
        yield Swift(endpoint=f"http://127.0.0.1:{ports['proxy']}")


def _server(role: str, port: int, folder: Path) -> contextlib.AbstractContextManager[object]:
    command = [str(BIN / f"swift-{role}-server"), str(folder / f"{role}.conf"), "--verbose"]
    own = folder / role
    own.mkdir()
    return running_process(command, own, lambda: _answers(port))


def _run_python(code: str, folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [str(BIN / "python"), "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Swift cannot make its rings: {done.stderr}")


def _answers(port: int) -> bool:
    """Send any request: an error answer also shows that the server runs."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/healthcheck", timeout=30).close()
    except urllib.error.HTTPError as error:
        error.close()
    except OSError:
        return False
    return True
