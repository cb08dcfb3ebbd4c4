"""nginx as a child process, with the configuration in deploy/."""

import contextlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.paths import ROOT
from support.servers.processes import free_port, running_process

MISSING = None if shutil.which("nginx") else "nginx (nginx-light) is not installed: make services"
SHIPPED = ROOT / "deploy/nginx.conf"

# For how many seconds a service that failed is left out: shorter than in deploy/nginx.conf.
LEFT_OUT = 1

# The configuration of Debian's nginx.conf around conf.d, with all paths in the folder.
AROUND = """\
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
events {{ worker_connections 512; }}
http {{
    include /etc/nginx/mime.types;
    default_type application/octet-stream;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/frepo.conf;
}}
"""


@dataclass(frozen=True, kw_only=True)
class Nginx:
    """A running nginx, and the folder with its log."""

    port: int
    folder: Path

    @property
    def address(self) -> str:
        """Host and port, as in the header Host."""
        return f"127.0.0.1:{self.port}"


def substitute(
    *,
    port: int,
    upstreams: Sequence[str],
    storage: Path | None = None,
    certificate: Path | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return deploy/nginx.conf with this machine's ports and paths; fails if a line to change is missing.

    `certificate`: a folder with cert.pem and key.pem; enables the lines for TLS. `hosts`: the addresses of hosts that
    take the uploads in parts whose ids begin with their tags.
    """
    servers = "\n".join(f"    server {address} max_fails=3 fail_timeout={LEFT_OUT}s;" for address in upstreams)
    tags = "".join(f"    {tag} frepo_{tag};\n" for tag in hosts or {})
    changes = [
        (r"(?m)^    default frepo;", f"{tags}    default frepo;"),
        (r"(?m)(^    server 127\.0\.0\.1:\d+ max_fails=3 fail_timeout=10s;\n)+", servers + "\n"),
        (r"proxy_connect_timeout 5s;", "proxy_connect_timeout 1s;"),
        (r"listen 80;", f"listen 127.0.0.1:{port}{' ssl' if certificate else ''};"),
        (r"alias /var/lib/frepo/storage/;", f"alias {storage or '/nowhere'}/;"),
    ]
    if certificate:
        changes += [
            (r"# ssl_certificate /.*;", f"ssl_certificate {certificate}/cert.pem;"),
            (r"# ssl_certificate_key /.*;", f"ssl_certificate_key {certificate}/key.pem;"),
        ]
    text = SHIPPED.read_text()
    for pattern, value in changes:
        text, count = re.subn(pattern, value, text)
        assert count == 1, f"deploy/nginx.conf has {count} times {pattern}"
    return text + "".join(
        f"upstream frepo_{tag} {{ {''.join(f'server {address};' for address in addresses)} }}\n"
        for tag, addresses in (hosts or {}).items()
    )


@contextlib.contextmanager
def nginx(
    upstreams: Sequence[str],
    *,
    storage: Path | None = None,
    certificate: Path | None = None,
    hosts: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Nginx]:
    """Run nginx in front of the addresses. The other arguments are those of `substitute`."""
    folder = Path(tempfile.mkdtemp(prefix="frepo-nginx-"))
    port = free_port()
    # As root, nginx would run its workers as `nobody`, who cannot read the folders of pytest.
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""))
    text = substitute(port=port, upstreams=upstreams, storage=storage, certificate=certificate, hosts=hosts)
    (folder / "frepo.conf").write_text(text)
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]

    def answers() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    try:
        with running_process(command, folder, answers):
            yield Nginx(port=port, folder=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
