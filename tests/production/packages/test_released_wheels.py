"""The files of a release alone, without a package index, install and serve, with each Python that frepo promises."""

import contextlib
import re
import sqlite3
import subprocess
import time
import tomllib
import urllib.request

import pytest

from support.logs import log_recorder
from support.paths import ROOT
from support.pythons import find_python
from support.scale import only_in_long_form
from support.servers.processes import free_port

pytestmark = only_in_long_form
CLASSIFIERS = tomllib.loads((ROOT / "frepo_core/pyproject.toml").read_text())["project"]["classifiers"]
PYTHONS = re.findall(r"(?m)^Programming Language :: Python :: (3\.\d+)$", "\n".join(CLASSIFIERS))
README = (ROOT / "README.md").read_text()
[INSTALL] = re.findall(
    r"(?m)^ {4}(sha256sum .*\n(?: {4}.*\n)+?) {4}\.venv/bin/frepo serve", (ROOT / "docs/install.md").read_text()
)
EXTRAS = "frepo[s3,ftp,sealed,notify,metrics,postgresql,mysql]"
OTHER = {"amd64": "arm64", "arm64": "amd64"}
MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def run(command, folder, **variables):
    """Run a script as somebody who has nothing of this project; return its output."""
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"} | variables
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    log_recorder.record_output(done.stderr)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def serving(folder):
    """Run the service in a folder; yield its address as soon as it answers."""
    port = free_port()
    log = folder.with_name("log")
    with log.open("w") as output:
        process = subprocess.Popen(
            [folder / ".venv/bin/pserve", "development.ini", f"http_listen=127.0.0.1:{port}"],
            env={"PATH": "/usr/bin:/bin"},
            cwd=folder,
            stdout=output,
            stderr=output,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        assert b"<title>" in first_page(f"{url}/ui/", process, log)
        yield url
    finally:
        process.terminate()
        process.wait(20)
        log_recorder.record_output(log.read_text())


def first_page(url, process, log):
    """Return the page as soon as the service answers."""
    for _ in range(300):
        assert process.poll() is None, log.read_text()
        with contextlib.suppress(OSError), urllib.request.urlopen(url) as answer:
            return answer.read()
        time.sleep(0.2)
    raise AssertionError(log.read_text())


@pytest.fixture
def archives(released, tmp_path):
    """A folder with the archives and their checksums, and the name of the one for this kind of machine."""
    folder = tmp_path / "service"
    folder.mkdir()
    for path in [released / "SHA256SUMS", *released.glob("frepo-*-wheels-*.tar")]:
        (folder / path.name).symlink_to(path)
    kind = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    return folder, next(folder.glob(f"*-wheels-{kind}.tar")).stem, kind


@pytest.mark.parametrize("version", PYTHONS)
def test_a_nightly_dump_from_the_files_of_a_release_alone(archives, version):
    python = find_python(version) or pytest.skip(f"python{version} was not found")
    folder, name, kind = archives
    [lines] = re.findall(r"```sh\n(eval.*?)```", README, re.DOTALL)

    run(re.sub(r"frepo-[\d.]+-wheels-\w+", name, INSTALL).replace("python3 -m", f"{python} -m"), folder)
    with serving(folder) as url:
        said = run(lines.replace("http://127.0.0.1:6543", url), folder)

    assert re.search(r"(?m)^HTTP/1.1 201 ", said)
    with contextlib.closing(sqlite3.connect(folder / "restored.db")) as restored:
        assert restored.execute("SELECT filename, max_backups_count FROM collection").fetchall() == [("night.sql", 3)]
    assert f"Python {version}." in run(".venv/bin/python --version", folder)
    run(f".venv/bin/pip install -q --no-index --find-links {name} '{EXTRAS}'; .venv/bin/pip check", folder)
    other = name.replace(kind, OTHER[kind])
    run(f"tar -xf {other}.tar; {download(other, MACHINES[OTHER[kind]])}", folder)


def download(archive, machine):
    """Return a command that fails if an archive has not all that a machine of another kind needs."""
    platforms = " ".join(f"--platform=manylinux_2_{minor}_{machine}" for minor in range(17, 29))
    return (
        f".venv/bin/pip download -q --no-index --find-links {archive} --only-binary=:all: {platforms} "
        f"--platform=manylinux2014_{machine} --dest downloaded '{EXTRAS}'"
    )
