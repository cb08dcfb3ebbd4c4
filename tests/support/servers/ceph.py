"""Ceph with one monitor, one OSD in memory and RADOS Gateways, as child processes of the tests.

It requires neither systemd nor root, and uses free loopback ports and a temporary folder.
"""

import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.servers.processes import free_port

PROGRAMS = ["ceph", "ceph-authtool", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin"]
NOT_INSTALLED = "Ceph (ceph-mon ceph-osd radosgw ceph-common) is not installed: make services"
START_TIMEOUT = 180  # seconds

CONFIG = """\
[global]
fsid = {fsid}
mon host = [v2:127.0.0.1:{port_v2},v1:127.0.0.1:{port_v1}]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
run dir = {folder}/run
admin socket = {folder}/run/$name.$pid.asok
log file = {folder}/$name.log
log to stderr = false
keyring = {folder}/keyring
mon data = {folder}/mon
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = 4294967296
osd memory target = 939524096
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 5000
mon warn on insecure global id reclaim = false
mon osd min up ratio = 0
paxos propose interval = 0.02
paxos min wait = 0.01
osd beacon report interval = 5
rgw gc obj min wait = 1
rgw gc processor period = 5
rgw gc processor max time = 5
debug mon = 0
debug osd = 0
debug rgw = 0
debug ms = 0
"""


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """A running RADOS Gateway: its URL and its process."""

    endpoint: str
    process: "subprocess.Popen[bytes]"


class Ceph:
    """A running cluster. `key` and `secret` belong to its only user; `region` works with any S3 client."""

    key = "FREPOTESTKEY"
    secret = "frepo-5ecre7"
    region = "us-east-1"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._stack = ExitStack()

    def start(self) -> None:
        """Start the monitor and the OSD, and create the user."""
        fsid, osd = str(uuid.uuid4()), str(uuid.uuid4())
        port_v2, port_v1 = free_port(), free_port()
        for name in ("mon", "osd", "run"):
            (self.folder / name).mkdir()
        config = CONFIG.format(fsid=fsid, port_v2=port_v2, port_v1=port_v1, folder=self.folder)
        (self.folder / "ceph.conf").write_text(config)
        self._make_keys()
        monmap = f"{self.folder}/monmap"
        addresses = f"[v2:127.0.0.1:{port_v2},v1:127.0.0.1:{port_v1}]"
        _run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", addresses, monmap)
        self.run("ceph-mon", "-i", "a", "--mkfs", "--monmap", monmap)
        self._stack.enter_context(self.child("ceph-mon", "-i", "a", "-f"))
        self._start_osd(osd)
        user = ["--uid=frepo", "--display-name=frepo", f"--access-key={self.key}", f"--secret={self.secret}"]
        self.run("radosgw-admin", "user", "create", *user)

    def stop(self) -> None:
        """Stop all started processes."""
        self._stack.close()

    @contextmanager
    def gateway(self, address: str = "127.0.0.1") -> Iterator[Gateway]:
        """Start a gateway at an address; several gateways may serve the same buckets."""
        port = free_port()
        frontend = f"--rgw-frontends=beast endpoint={address}:{port} tcp_nodelay=1"
        with self.child("radosgw", "-n", "client.rgw", "-f", frontend, "--rgw-enable-usage-log=false") as process:
            _wait_until(lambda: _answers(f"http://{address}:{port}/"), process)
            yield Gateway(endpoint=f"http://{address}:{port}", process=process)

    def limit_bucket(self, bucket: str, size: int) -> None:
        """Limit each bucket to `size` bytes."""
        self.run("radosgw-admin", "quota", "set", "--quota-scope=bucket", f"--bucket={bucket}", f"--max-size={size}B")
        self.run("radosgw-admin", "quota", "enable", "--quota-scope=bucket", f"--bucket={bucket}")

    def run(self, program: str, *arguments: str) -> str:
        """Run one of Ceph's programs until it exits; return its output."""
        return _run(program, "-c", f"{self.folder}/ceph.conf", *arguments)

    @contextmanager
    def child(self, program: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
        """Start one of Ceph's programs in the background."""
        process = subprocess.Popen(
            [program, "-c", f"{self.folder}/ceph.conf", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.kill()  # its data is not needed any more
            process.wait()

    def _make_keys(self) -> None:
        keyring = f"{self.folder}/keyring"
        rights = {
            "mon.": ["mon", "allow *"],
            "client.admin": ["mon", "allow *", "osd", "allow *", "mgr", "allow *"],
            "client.rgw": ["mon", "allow rw", "osd", "allow rwx"],
            "osd.0": ["mon", "allow profile osd", "mgr", "allow profile osd", "osd", "allow *"],
        }
        for number, (name, caps) in enumerate(rights.items()):
            arguments = [
                word for place, cap in zip(caps[::2], caps[1::2], strict=True) for word in ("--cap", place, cap)
            ]
            create = ["--create-keyring"] if number == 0 else []
            _run("ceph-authtool", keyring, *create, "--gen-key", "-n", name, *arguments)

    def _start_osd(self, osd: str) -> None:
        secret = _run("ceph-authtool", f"{self.folder}/keyring", "-n", "osd.0", "-p").strip()
        (self.folder / "osd.json").write_text(json.dumps({"cephx_secret": secret}))
        self.run("ceph", "--connect-timeout", "30", "osd", "new", osd, "-i", f"{self.folder}/osd.json")
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", osd)
        process = self._stack.enter_context(self.child("ceph-osd", "-i", "0", "-f"))
        _wait_until(lambda: "1 up" in self.run("ceph", "osd", "stat"), process)


def missing_programs() -> list[str]:
    """Return the programs that are not installed."""
    return [program for program in PROGRAMS if not shutil.which(program)]


@contextmanager
def ceph_cluster() -> Iterator[Ceph]:
    """Run a cluster, in a folder with a short path: the length of socket paths is limited."""
    folder = Path(tempfile.mkdtemp(prefix="frepo-ceph-"))
    ceph = Ceph(folder)
    try:
        ceph.start()
        yield ceph
    finally:
        ceph.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=START_TIMEOUT, check=False)
    if done.returncode:
        raise RuntimeError(f"{program} {' '.join(arguments)}: {done.stderr or done.stdout}")
    return done.stdout


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=30).close()
    except urllib.error.HTTPError as error:
        error.close()
    except OSError:
        return False
    return True


def _wait_until(condition, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"{process.args[0]} does not start (exit status {process.returncode})")
        time.sleep(0.05)
