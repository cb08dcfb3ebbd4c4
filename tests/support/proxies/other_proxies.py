"""Caddy, Apache and HAProxy as child processes, with the configurations in deploy/proxies."""

import contextlib
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.paths import ROOT
from support.servers.processes import free_port, running_process

SHIPPED = ROOT / "deploy/proxies"
PROGRAMS = {"caddy": "caddy", "apache": "apache2", "haproxy": "haproxy"}
MODULES = Path("/usr/lib/apache2/modules")
# The configuration of Debian's apache2.conf around sites-enabled, with the modules that deploy/proxies/apache.conf
# names.
APACHE = """\
ServerRoot {folder}
PidFile {folder}/pid
ErrorLog {folder}/error.log
Listen 127.0.0.1:{port}
{modules}
{user}
Include {folder}/frepo.conf
"""
APACHE_MODULES = (
    *("mpm_event", "authz_core", "slotmem_shm", "proxy", "proxy_http", "proxy_balancer", "lbmethod_bybusyness"),
    *("headers", "reqtimeout"),
)


def missing(name: str) -> bool:
    """Return whether the program of a proxy is not installed."""
    return shutil.which(PROGRAMS[name]) is None


def substitute(path: str, *changes: tuple[str, str]) -> str:
    """Return a shipped file with this machine's ports; fails if a line to change is missing."""
    text = (SHIPPED / path).read_text()
    for pattern, value in changes:
        text, count = re.subn(pattern, value, text)
        assert count == 1, f"deploy/proxies/{path} has {count} times {pattern}"
    return text


def _caddy(folder: Path, port: int, upstream: str) -> list[str]:
    options = f"{{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port {port}\n}}\n"
    text = substitute(
        "Caddyfile", ("http://files.example.org", f"http://:{port}"), (r"127\.0\.0\.1:6543 127.*:6544", upstream)
    )
    (folder / "Caddyfile").write_text(options + text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


def _apache(folder: Path, port: int, upstream: str) -> list[str]:
    text = substitute(
        "apache.conf",
        (r"VirtualHost \*:80>", f"VirtualHost 127.0.0.1:{port}>"),
        (r'        BalancerMember "http://127\.0\.0\.1:6544".*\n', ""),
        (r"127\.0\.0\.1:6543", upstream),
    )
    (folder / "frepo.conf").write_text(text)
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in APACHE_MODULES)
    user = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
    (folder / "apache2.conf").write_text(APACHE.format(folder=folder, port=port, modules=modules, user=user))
    return ["apache2", "-D", "FOREGROUND", "-f", str(folder / "apache2.conf")]


def _haproxy(folder: Path, port: int, upstream: str) -> list[str]:
    text = substitute(
        "haproxy.cfg",
        (r"bind :80 ", f"bind 127.0.0.1:{port} "),
        (r"    server frepo-6544 .*\n", ""),
        (r"127\.0\.0\.1:6543", upstream),
    )
    (folder / "haproxy.cfg").write_text(text)
    return ["haproxy", "-db", "-f", str(folder / "haproxy.cfg")]


COMMANDS = {"caddy": _caddy, "apache": _apache, "haproxy": _haproxy}


@contextlib.contextmanager
def running_proxy(name: str, upstream: str) -> Iterator[int]:
    """Run a proxy in front of an address; yield its port."""
    folder = Path(tempfile.mkdtemp(prefix="frepo-proxy-"))
    port = free_port()

    def answers() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    try:
        command = COMMANDS[name](folder, port, upstream)
        with running_process(command, folder, answers, env=os.environ | {"HOME": str(folder)}):
            yield port
    finally:
        shutil.rmtree(folder, ignore_errors=True)
