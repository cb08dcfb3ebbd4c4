"""Programs in C that receive, hash or copy a file, to compare uploads with: nginx, openssl and dd."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from support.servers import nginx as nginx_server
from support.servers.processes import free_port, running_process

from .client import post_file
from .measure import Results, Work, timed
from .world import folder

# nginx writes a body to a file only for a request that it passes on: here to itself, without the body.
CONFIGURATION = """\
{user}worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{ access_log off; sendfile on; client_body_temp_path {bodies}; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
client_max_body_size 0; client_body_buffer_size 256k;
server {{ listen 127.0.0.1:{port}; root {root};
  location /received/ {{ client_body_in_file_only clean; proxy_pass http://127.0.0.1:{port}/end/;
    proxy_pass_request_body off; proxy_set_header Content-Length ""; }}
  location /end/ {{ return 200 "{{}}"; }} }} }}
"""


@contextlib.contextmanager
def yardsticks(results: Results, file: Path, where: Path) -> Iterator[dict[str, Work]]:
    """Yield works that hash the file, and send it to an nginx which writes it to a file; those that are installed."""
    works: dict[str, Work] = {}
    if shutil.which("openssl"):
        command = ["openssl", "dgst", "-sha256", str(file)]
        works["openssl dgst"] = timed(lambda: subprocess.run(command, check=True, capture_output=True))
    else:
        results.skipped["openssl dgst"] = "openssl is not installed"
    with contextlib.ExitStack() as stack:
        if nginx_server.MISSING:
            results.skipped["upload : nginx"] = nginx_server.MISSING
        else:
            address = stack.enter_context(nginx(where, bodies=where / "bodies"))
            works["nginx"] = timed(lambda: post_file(address, "/received/", file, {}))
        yield works


def synced_copy(file: Path, where: Path) -> Work:
    """Return the work of copying a file to the same disk and syncing the copy, which nginx does not do."""
    copy = where / "copy"

    def run() -> float:
        command = ["dd", f"if={file}", f"of={copy}", "bs=1M", "conv=fsync", "status=none"]
        seconds = timed(lambda: subprocess.run(command, check=True))()
        copy.unlink()
        return seconds

    return run


@contextlib.contextmanager
def nginx(root: Path, bodies: Path | None = None) -> Iterator[str]:
    """Run nginx on a folder, with sendfile; yield its address. It writes what is sent to /received/ below `bodies`."""
    with folder() as where:
        port = free_port()
        user = "user root; " if os.geteuid() == 0 else ""
        text = CONFIGURATION.format(folder=where, bodies=bodies or where / "b", port=port, root=root, user=user)
        (where / "nginx.conf").write_text(text)
        command = ["nginx", "-c", str(where / "nginx.conf"), "-e", str(where / "error.log")]
        with running_process(command, where, partial(listens, port)):
            yield f"127.0.0.1:{port}"


def listens(port: int) -> bool:
    """Return whether a server listens on a port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
