"""Each line of docs/tutorial.md runs as it is printed, in a Debian made from nothing and booted."""

import re
import shutil
import subprocess
import sys

import pytest

from support.console.terminal import Terminal
from support.console.tutorial import LOCAL_PARTS, PAGE, PRODUCTION_PART, FirstTerminal, run_part
from support.installation import booted_debian
from support.installation.environments import LEFT_BEHIND
from support.paths import ROOT
from support.scale import only_in_long_form

pytestmark = [only_in_long_form, pytest.mark.skipif(bool(missing := booted_debian.missing()), reason=missing)]
INIT = "systemd-sysv"  # each Debian that boots has one
CLONE = "home/me/frepo"
PIP = "[global]\nno-index = true\nfind-links = /srv/wheels\ndisable-pip-version-check = true\n"
INSTALL_SECONDS = 600  # of the first start, which makes the environment
SERVICE = "http://127.0.0.1:6543/"


@pytest.fixture
def inside(debian_base, tmp_path):
    """Boot a Debian with a clone of the project and the packages that the page installs; its network is loopback."""
    folder = tmp_path / "debian"
    needed, installed = packages_of_the_page()
    subprocess.run(["cp", "-a", debian_base, folder], check=True)
    for words in (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", INIT, *needed],
        ["apt-get", "install", "-y", "--download-only", *installed],
        ["useradd", "--create-home", "--shell=/bin/bash", "me"],
    ):
        run("chroot", folder, "env", "DEBIAN_FRONTEND=noninteractive", *words)
    download_wheels(folder / "srv/wheels")
    (folder / "etc/pip.conf").write_text(PIP)
    shutil.copytree(ROOT, folder / CLONE, ignore=LEFT_BEHIND)
    run("chroot", folder, "chown", "-R", "me:me", f"/{CLONE}")
    with booted_debian.booted(folder) as inside:
        yield inside
    shutil.rmtree(folder)


def packages_of_the_page():
    """Return those that a reader needs from the begin, and those that the commands install."""
    [needed] = re.findall(r"`apt-get install (.*?)`", PAGE)
    [installed] = re.findall(r"(?m)^apt-get install -y (.*)$", PAGE)
    return needed.split(), installed.split()


def download_wheels(folder):
    """Fetch what pip installs from its index. The page has to name each distribution of frepo that is needed."""
    for wanted in (["--require-hashes", "-r", ROOT / "release/pinned.txt"], ["pip>=25", "setuptools>=77,<80.9"]):
        run(
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            f"--dest={folder}",
            "--python-version=3.11",
            "--only-binary=:all:",
            *wanted,
        )


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


def answers(inside):
    """Whether the service answers inside."""
    asked = subprocess.run([*inside, "curl", "-s", "-o", "/dev/null", SERVICE], check=False)
    return asked.returncode == 0


def variables_of(user, home):
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {"PATH": path, "USER": user, "HOME": home, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}


def test_each_part_runs_as_it_is_printed(inside, tmp_path):
    me = variables_of("me", "/home/me")
    as_me = [*inside, "runuser", "-u", "me", "--", "env", f"--chdir=/{CLONE}"]
    first = FirstTerminal(tmp_path, me, lambda: answers(inside), as_me, seconds=INSTALL_SECONDS)
    as_root = [*inside, "env", f"--chdir=/{CLONE}"]
    mine = Terminal(tmp_path, me, as_me)
    root = Terminal(tmp_path, variables_of("root", "/root"), as_root)
    try:
        for title in LOCAL_PARTS:
            run_part(title, {"": mine, "first terminal": first})
        first.close()
        for _ in range(2):
            run_part(PRODUCTION_PART, {"": root, "to begin again": root})
    finally:
        for terminal in (first, mine, root):
            terminal.close()
