"""The client as servers get it: the zipapp, run by Debian's Python, against a real service."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from frepo_client.zipapp import build

COMPILE = """
import py_compile, sys, tempfile, zipfile
with zipfile.ZipFile(sys.argv[1], "a") as archive, tempfile.TemporaryDirectory() as folder:
    for name in [name for name in archive.namelist() if name.endswith(".py") and name != "__main__.py"]:
        py_compile.compile(archive.extract(name, folder), f"{folder}/compiled", f"{sys.argv[1]}/{name}",
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
        archive.write(f"{folder}/compiled", f"{name}c")
"""
DEBIAN = Path("/usr/bin/python3")
PYTHON = os.environ.get("FREPO_CLIENT_PYTHON") or (str(DEBIAN) if DEBIAN.exists() else sys.executable)


class Machine:
    """A machine that is backed up: a home, the zipapp, and the token of a cron job for one collection."""

    def __init__(self, home: Path, program: Path, service) -> None:
        self.home = home
        self.program = program
        self.python = PYTHON
        self.service = service
        self.url = service.url
        self.collection = self.call("POST", "collections", {"name": "shop.sql"})["id"]
        token = self.call("POST", "tokens", {"roles": ROLES, "name": "shop", "expires_at": None})
        self.call("PUT", f"collections/{self.collection}/access/{token['fingerprint']}")
        self.fingerprint = token["fingerprint"]
        self.token_file = home / "token"
        self.token_file.write_text(token["secret"])
        self.token_file.chmod(0o600)

    def run(self, *words: str, check: int | None = 0, timeout: float = 60, **environment: str):
        """Run the client to its end. `check` is the exit status that is expected."""
        done = subprocess.run(
            self.command(*words),
            env=self.environment | environment,
            cwd=self.home,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        assert check is None or done.returncode == check, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def start(self, *words: str, **options) -> subprocess.Popen:
        """Start the client."""
        return subprocess.Popen(self.command(*words), env=self.environment, cwd=self.home, **options)

    def command(self, *words: str) -> list[str]:
        return [self.python, str(self.program), *words]

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "FREPO_URL": self.url,
            "FREPO_TOKEN_FILE": str(self.token_file),
        }

    def call(self, method: str, path: str, body=None):
        """Ask the service as its administrator."""
        return self.call_as(self.service.admin, method, path, body)

    def call_as(self, token: str, method: str, path: str, body=None):
        request = urllib.request.Request(
            f"{self.service.url}/api/v1/{path}".rstrip("/"),
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            content = answer.read()
        return json.loads(content) if content else None

    def versions(self):
        return self.call("GET", f"collections/{self.collection}/versions")["items"]

    def runs(self):
        return self.call("GET", f"collections/{self.collection}/runs")["items"]

    def state(self):
        return self.call("GET", f"collections/{self.collection}")


ROLES = [
    "collections.upload_to_allowed_collections",
    "collections.list_versions_for_allowed_collections",
]


@pytest.fixture(scope="session")
def program(tmp_path_factory) -> Path:
    """The zipapp."""
    return make_program(tmp_path_factory.mktemp("client"), PYTHON)


def make_program(folder: Path, python: str) -> Path:
    """Write the zipapp with what Python makes of the modules: otherwise each run spends half of its time with that."""
    path = folder / "frepo-client.pyz"
    path.write_bytes(build())
    subprocess.run([python, "-c", COMPILE, path], check=True)
    return path


@pytest.fixture(scope="session")
def service(tmp_path_factory, make_service):
    """One service for all tests: each machine has a collection and a token of its own."""
    service = make_service(tmp_path_factory.mktemp("service"))
    service.start()
    yield service
    service.stop()


@pytest.fixture
def machine(tmp_path, program, service) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, program, service)
