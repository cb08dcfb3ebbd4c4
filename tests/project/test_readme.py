import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import uuid

import pytest

from support.paths import ROOT
from support.servers.remote import serving

README = (ROOT / "README.md").read_text()
PUSH = re.findall(r"^sqlite3 .*\| (curl .* -T - .*)$", README, re.MULTILINE)
MAP = (ROOT / "CONTRIBUTING.md").read_text().partition("## Test\n")[0]


@pytest.fixture
def fresh_clone(service, tmp_path):
    """A folder in which the README's lines run as in a clone with `make serve` running."""
    if not shutil.which("sqlite3"):
        pytest.skip("sqlite3 is not installed: make services")
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "development.ini").symlink_to(ROOT / "development.ini")
    (folder / "var").symlink_to(service.folder)
    (folder / "var/admin-token").write_text(f"{service.admin}\n")
    return folder


def test_the_three_lines_dump_and_restore_as_often_as_you_like(service, fresh_clone):
    [lines] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    script = lines.replace("http://127.0.0.1:6543", service.url)

    restored_again = f"{script}{script.splitlines()[-1]}\n"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"umask 022\n{restored_again}"],
        cwd=fresh_clone,
        env=service.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert 0o600 == (fresh_clone / "restored.db").stat().st_mode & 0o777
    with contextlib.closing(sqlite3.connect(fresh_clone / "restored.db")) as restored:
        assert restored.execute("SELECT filename, max_backups_count FROM collection").fetchall() == [("night.sql", 3)]
    assert len(lines.splitlines()) == 3


@pytest.mark.parametrize("rows", [2, 500])
def test_a_database_of_ones_own_is_dumped_and_restored(rows, service, fresh_clone):
    [lines] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    with contextlib.closing(sqlite3.connect(fresh_clone / "shop.db")) as own:
        own.execute("CREATE TABLE item (name)")
        own.executemany("INSERT INTO item VALUES (?)", [(f"item {number}",) for number in range(rows)])
        own.commit()

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines.replace("http://127.0.0.1:6543", service.url)],
        cwd=fresh_clone,
        env=service.environment | {"DATABASE": "shop.db"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    with contextlib.closing(sqlite3.connect(fresh_clone / "restored.db")) as restored:
        assert (rows,) == restored.execute("SELECT count(*) FROM item").fetchone()


def test_each_path_in_the_readme_exists():
    paths = re.findall(r"`((?:frepo_|examples/)[\w./-]+)`|`([\w-]+\.ini)`", README + MAP)

    assert paths
    assert [] == [path for path in map("".join, paths) if not (ROOT / path).exists()]


def test_the_map_has_every_room():
    source = ROOT / "frepo_core/src/frepo_core"

    rooms = {f"{path.name}/" for path in source.iterdir() if (path / "__init__.py").exists()}

    assert rooms == set(re.findall(r"`([a-z]+/)`", MAP.partition("| Room |")[2]))


def test_the_push_of_the_readme_shows_why_it_was_refused(service, tmp_path):
    [line] = PUSH

    done = subprocess.run(
        ["bash", "-c", line],
        env=service.environment | {"URL": f"{service.url}/api/v1/collections/{uuid.uuid4()}/versions", "TOKEN": "x"},
        cwd=tmp_path,
        input=b"a dump",
        capture_output=True,
        check=False,
    )

    assert (done.returncode, json.loads(done.stdout[done.stdout.index(b"{") :])["status"]) == (1, 401)
    assert b"curl: (22) The requested URL returned error: 401" in done.stderr


def head(status, *headers):
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Content-Length: 2", "", "{}"]).encode()


# Answers of a proxy or a portal that stores nothing, and is no error for curl.
NOT_STORED = {
    "301": head("301 Moved Permanently", "Location: /elsewhere"),
    "302": head("302 Found", "Location: /elsewhere"),
    "308": head("308 Permanent Redirect", "Location: /elsewhere"),
    "200": head("200 OK", "X-Portal: 201"),
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
}


def pushed(line, answer):
    """Run a printed line against a server with this answer; return its exit status and what it prints."""
    with serving({"/versions": answer}, address="127.0.0.1") as remote:
        done = subprocess.run(
            ["bash", "-c", line],
            env={"PATH": os.environ["PATH"], "URL": f"{remote.origin}/versions", "TOKEN": "x"},
            input=b"a dump",
            capture_output=True,
            check=False,
        )
    return done.returncode, done.stdout.decode()


def test_the_push_of_the_readme_fails_if_nothing_was_stored():
    [line] = PUSH

    for status, answer in NOT_STORED.items():
        code, printed = pushed(line, answer)
        assert (1, True) == (code, f"HTTP/1.1 {status}" in printed), status
    assert 0 == pushed(line, head("201 Created"))[0]
    assert 0 == pushed(line, b"HTTP/1.1 100 Continue\r\n\r\n" + head("201 Created"))[0]


def test_each_upload_that_is_shown_compares_its_status():
    silent, shown = [], 0
    for path, lines in LINES.items():
        text = re.sub(r"\\+n|(\||&&|\\+)\s*\n", r"\1 ", "\n".join(lines))
        for line in text.splitlines():
            # Not an option in a sentence, nor an answer that the next line reads.
            is_sentence = ("`" in line and path.suffix == ".md") or line.startswith("//")
            if re.search(r"(\bcurl|\{CURL\})\b.* -T ", line) and not is_sentence and "answer" not in line:
                shown += 1
                silent += [] if re.search(r"awk '1; /\^HTTP|_?IS_STORED\}", line) else [f"{path.name}: {line.strip()}"]

    assert [] == silent
    assert 10 < shown


SHOWN = [
    ROOT / "README.md",
    *(path for folder in ("docs", "examples", "deploy") for path in (ROOT / folder).rglob("*")),
    *(ROOT / "frepo_core/src").glob("**/guide.md"),
    *(ROOT / "frepo_core/src/frepo_core/cli").rglob("*.py"),
    *(ROOT / "frepo_console/src/frepo_console/pages/views").rglob("*.js"),
]
LINES = {path: path.read_bytes().decode(errors="replace").splitlines() for path in SHOWN if path.is_file()}
NEAR = 8  # lines


def test_no_command_hides_the_body_of_an_error():
    """Except if curl writes the body to the downloaded file: it must not contain an error message."""
    lines = [(path.name, line) for path, lines in LINES.items() for line in lines]

    hiding = [each for each in lines if re.search(r"\bcurl\b.*? (-\w*f\w*|--fail)\b(?!-with-body)", each[1])]

    assert hiding
    assert [] == [(name, line) for name, line in hiding if ".sql.gz" not in line and " -o " not in line]


def test_next_to_each_upload_of_a_pipe_is_said_that_it_cannot_be_repeated():
    """A second attempt of `curl --retry -T -` begins in the middle of the dump, and is stored."""
    silent, repeated = [], []
    for path, lines in LINES.items():
        for number, line in enumerate(lines):
            if re.search(r"curl.* -T -(\s|$)|^\s+-X POST -T - ", line):
                repeated += [line] if "--retry" in line.replace("`--retry`", "") else []
                near = "\n".join(lines[max(number - NEAR, 0) : number + NEAR])
                silent += [f"{path.name}: {line}"] if "--retry" not in near else []

    assert ([], []) == (silent, repeated)


def test_the_token_of_a_client_is_in_a_file_of_one_name():
    named = {
        name
        for lines in LINES.values()
        for name in re.findall(r"(?:-H @|--config )[\"']?([\w./%~]+)", "\n".join(lines))
    }

    # The configuration of frepo-client is a file of another kind.
    assert {"token.header"} == {name.rpartition("/")[2] for name in named if not name.endswith(".toml")}


@pytest.mark.costly
def test_the_example_shows_why_it_was_refused(service, tmp_path):
    script = ROOT / "examples/nightly-dump.sh"

    done = subprocess.run(
        ["bash", str(script), str(uuid.uuid4())],
        env=service.environment | {"FREPO_URL": service.url, "PYTHON": sys.executable},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, '"error_code":403' in done.stderr, "Traceback" in done.stderr) == (1, True, False)
