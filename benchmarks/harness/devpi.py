"""devpi-server, an index of Python packages. It accepts a file of any content as a release."""

import base64
import contextlib
import http.client
import itertools
import json
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from support.servers.processes import free_port, running_process

from .client import post_file

EDGE = "devpi-edge"
PASSWORD = "root's password"
FIELDS = {":action": "file_upload", "name": "bench"}


class Index:
    """An index of a running server, to which `root` uploads files."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._numbers = itertools.count(1)
        login = {"user": "root", "password": PASSWORD}
        token = json.loads(self._ask("POST", "/+login", login))["result"]["password"]
        self._headers = {"X-Devpi-Auth": base64.b64encode(f"root:{token}".encode()).decode()}
        self._ask("PUT", "/root/bench", {"bases": []})

    def upload(self, file: Path) -> str:
        """Upload a file as the next release; return its version."""
        version = f"0.{next(self._numbers)}"
        part = f'--{EDGE}\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n'
        fields = "".join(f"{part % (name, '')}{value}\r\n" for name, value in {**FIELDS, "version": version}.items())
        content = part % ("content", f'; filename="bench-{version}.tar.gz"')
        around = (fields + content).encode(), f"\r\n--{EDGE}--\r\n".encode()
        headers = {**self._headers, "Content-Type": f"multipart/form-data; boundary={EDGE}"}
        post_file(self.address, "/root/bench/", file, headers, around=around)
        return version

    def path(self, version: str) -> str:
        """Return the path of a release's file."""
        page = self._ask("GET", "/root/bench/+simple/bench/")
        found = re.search(rf'href="\.\./\.\.(/[^"#]*/bench-{re.escape(version)}\.tar\.gz)', page)
        if found is None:
            raise RuntimeError(f"no release {version} in {page[:300]}")
        return f"/root/bench{found[1]}"

    def _ask(self, method: str, path: str, body: object = None) -> str:
        connection = http.client.HTTPConnection(self.address)
        headers = {"Content-Type": "application/json", **getattr(self, "_headers", {})}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return text


@contextlib.contextmanager
def index(programs: Path, where: Path) -> Iterator[Index]:
    """Run a server with an empty index; raises `FileNotFoundError` if it is not installed."""
    where.mkdir()
    state, port = ["--serverdir", str(where / "state")], free_port()
    command = [str(programs / "devpi-init"), *state, "--no-root-pypi", "--root-passwd", PASSWORD]
    subprocess.run(command, check=True, capture_output=True)
    command = [str(programs / "devpi-server"), *state, "--host", "127.0.0.1", "--port", str(port)]
    with running_process(command, where, partial(_answers, port)):
        yield Index(f"127.0.0.1:{port}")


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/+api")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()
