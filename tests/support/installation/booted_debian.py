"""A Debian in a folder, booted by its own systemd: it has its own processes and ports, and its network is loopback."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

BOOT_SECONDS = 180
GROUPS = Path("/sys/fs/cgroup/systemd")  # of cgroup v1; with v2 alone, systemd gets the one hierarchy
# The kernel is shared: its settings can only be read. systemd mounts the rest.
BOOT = """set -e
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
if [ -d /sys/fs/cgroup/systemd ]; then
    mount -t tmpfs tmpfs sys/fs/cgroup
    mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
else
    mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ip link set lo up
exec env -i container=frepo-test PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd
"""
ALONE = ("--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup")


def missing() -> str:
    """Return why this machine can boot none, else an empty text."""
    if os.geteuid() != 0:
        return "namespaces need root"
    return next((f"{name} is not installed" for name in ("unshare", "nsenter", "ip") if not shutil.which(name)), "")


@contextlib.contextmanager
def booted(folder: Path) -> Iterator[tuple[str, ...]]:
    """Boot the Debian in the folder; yield the words that let a command run in it. All it has started is killed."""
    with _own_group() as enter_group:
        command = ["sh", "-c", f'{enter_group}exec unshare {" ".join(ALONE)} --fork --kill-child sh -c "$0" sh "$1"']
        output = folder.with_name(f"{folder.name}.log")
        with output.open("w") as log:
            process = subprocess.Popen([*command, BOOT, str(folder)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            inside = _enter(process, output)
            _wait(inside, output)
            yield inside
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def _own_group() -> Iterator[str]:
    """Yield the begin of a script that enters a control group; it and all below it are removed at the end."""
    if not GROUPS.is_dir():
        yield ""
        return
    group = Path(tempfile.mkdtemp(prefix="frepo-test-", dir=GROUPS))
    try:
        yield f"echo $$ > {group}/cgroup.procs; "
    finally:
        for path, _, _ in os.walk(group, topdown=False):
            _remove_group(path)


def _remove_group(path: str) -> None:
    """Remove a control group as soon as its killed processes have ended."""
    for _ in range(100):
        try:
            os.rmdir(path)
        except OSError:
            time.sleep(0.1)
        else:
            return


def _enter(process: "subprocess.Popen[bytes]", output: Path) -> tuple[str, ...]:
    """Return the command that enters all namespaces of the first process."""
    for _ in range(100):
        assert process.poll() is None, output.read_text()
        if children := Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            return ("nsenter", f"--target={children[0]}", *ALONE, "--root", "--wd")
        time.sleep(0.05)
    raise AssertionError(output.read_text())


def _wait(inside: Sequence[str], output: Path) -> None:
    """Wait until systemd has started all that it starts at boot."""
    end = time.monotonic() + BOOT_SECONDS
    said = ""
    while time.monotonic() < end:
        ask = subprocess.run([*inside, "systemctl", "is-system-running"], capture_output=True, text=True, check=False)
        if (said := ask.stdout.strip()) in ("running", "degraded"):
            return
        time.sleep(0.2)
    raise AssertionError(f"systemd is {said!r}: {output.read_text()}")
