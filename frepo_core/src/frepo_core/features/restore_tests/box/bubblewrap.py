"""A box made by bubblewrap: namespaces of its own, no network, and of the machine only its programs."""

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from frepo_core.services.base.temporary_folder import TemporaryFolder

from .errors import NoSandboxError
from .watch import descendants

INSIDE = "frepo_core.features.restore_tests.box.inside"
# Whom the processes of the box belong to if the service runs as root.
NOBODY = "nobody"
INSTALL = "install bubblewrap 0.8 or newer, or set restore_tests.sandbox to the socket of the unit frepo-restore"
_SHARED = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_NAMESPACES = (
    "--unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try --disable-userns "
    "--die-with-parent --new-session --cap-drop ALL --hostname box --clearenv "
    "--proc /proc --dev /dev --size 67108864 --tmpfs /dev/shm --remount-ro /dev"
)
_FOLDERS = "--bind {base}/box /box --bind {base}/box/tmp /tmp --ro-bind {base}/passwd /etc/passwd"
_LAST = "--chdir /box --remount-ro /"
_PASSWD = "restore:x:{uid}:{gid}::/box:/bin/sh\n"
_END_SECONDS = 10
_NO_OTHER: dict[str, Any] = {}


@contextmanager
def started_box(temp_directory: Path | None) -> Iterator[tuple[socket.socket, "subprocess.Popen[bytes]", Path]]:
    """Start a box, and return its socket, its process and its folder. Leaving ends all processes in it.

    Raises `NoSandboxError`.
    """
    program = shutil.which("bwrap")
    if program is None:
        raise NoSandboxError(f"no sandbox: {INSTALL}")
    with TemporaryFolder("frepo-box-", temp_directory) as made:
        base, owner = made.path, _owner()
        folder = _make_folders(base, owner)
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                process = _start([program, *_arguments(base, owner)], theirs, owner)
            try:
                yield ours, process, folder
            finally:
                _end(process)
                assert process.stderr is not None
                process.stderr.close()


def _owner() -> tuple[int, int]:
    """Return user and group of the box: never root."""
    if os.geteuid():
        return os.geteuid(), os.getegid()
    found = pwd.getpwnam(NOBODY)
    return found.pw_uid, found.pw_gid


def _make_folders(base: Path, owner: tuple[int, int]) -> Path:
    uid, gid = owner
    folder = base / "box"
    (folder / "tmp").mkdir(parents=True)
    for each in (base, folder, folder / "tmp"):
        each.chmod(0o700)
        os.chown(each, uid, gid)
    (base / "passwd").write_text(_PASSWD.format(uid=uid, gid=gid))
    (base / "passwd").chmod(0o644)
    return folder


def _arguments(base: Path, owner: tuple[int, int]) -> list[str]:
    """Return what bubblewrap needs: of the machine only its programs and this Python, nothing of frepo's data."""
    words = [*shlex.split(_NAMESPACES), "--uid", str(owner[0]), "--gid", str(owner[1])]
    for path in _SHARED:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    words += [word for path in _FILES for word in ("--ro-bind-try", path, path)]
    words += [word.format(base=base) for word in _FOLDERS.split()]
    words += [word for path in _python() for word in ("--ro-bind", path, path)]
    words += _LAST.split()
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/box", "TMPDIR": "/box/tmp"}
    environment |= {"LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words += [word for name, value in environment.items() for word in ("--setenv", name, value)]
    return [*words, "--", sys.executable, "-s", "-P", "-B", "-m", INSIDE]


def _python() -> list[str]:
    """Return the folders with this Python and the installed packages, and where links to them lead."""
    folders = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path and os.path.isdir(path))}
    chosen = ["/usr"]
    for path in sorted({os.path.abspath(one) for one in folders} | {os.path.realpath(one) for one in folders}):
        if not any(path == above or path.startswith(f"{above}/") for above in chosen):
            chosen.append(path)
    return chosen[1:]


def _start(words: list[str], channel: socket.socket, owner: tuple[int, int]) -> "subprocess.Popen[bytes]":
    other = _NO_OTHER if os.geteuid() else {"user": owner[0], "group": owner[1], "extra_groups": []}
    pipes: dict[str, Any] = {"stdin": channel, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, env={}, cwd="/", bufsize=-1, text=False, **pipes, **other)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the box. All processes in it end with its first one; wait for that, because they use the folder."""
    inside = descendants(process.pid)
    process.kill()
    for pid in inside[:1]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, 9)
    process.wait()
    deadline = monotonic() + _END_SECONDS
    while any(map(_is_there, inside)) and monotonic() < deadline:
        sleep(0.02)


def _is_there(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")
