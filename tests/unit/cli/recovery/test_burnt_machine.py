"""The machine burnt: the page docs/recovery.md as it is printed, and the script that needs no frepo."""

import re
import shlex
import shutil
import subprocess
import time

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs/recovery.md").read_text()
SECTION = re.search(r"^## The machine burnt$(.*?)^### ", PAGE, re.MULTILINE | re.DOTALL)[1]
LINES = [line for block in re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL) for line in block.splitlines()]
INI = re.search(r"```ini\n(.*?)```", SECTION, re.DOTALL)[1]
SCRIPT = ROOT / "docs/recover_by_hand.py"
OLD = "/usr/bin/python3"


def settings(console, offsite):
    """Set what the page has in its ini file, with the folders of this test."""
    places = {"/srv/frepo": str(console.folder / "storage"), "/mnt/offsite": str(offsite)}
    for line in INI.splitlines():
        name, _, value = line.partition(" = ")
        console.environment[name.upper().replace(".", "_")] = places.get(value, value)


@pytest.fixture
def offsite(tmp_path):
    return tmp_path / "offsite"


@pytest.fixture
def burnt(make_console, tmp_path, offsite):
    """A service with versions on two storages, of which the machine with the first one burns.

    Return what was acknowledged, the id of the collection, and what `frepo install` printed.
    """
    console = make_console()
    settings(console, offsite)
    printed = console.answer("install")
    again = console.answer("install")
    assert "enc.token_phrase = " in printed
    assert "enc.token_phrase" not in again
    collection = console.answer("backup:create-collection", "-f", "db.sql", "-b", "9")
    console.answer("auth:generate-admin-token")
    tokens = console.rows("SELECT key, roles FROM token")
    contents = {}
    for number in (1, 2, 3):
        contents[number] = b"night %d\n" % number * 1000
        (console.folder / "dump.sql").write_bytes(contents[number])
        console.answer("backup:upload", collection, "dump.sql")
        console.answer("jobs:run", "catalogue" if number == 1 else "journal")
    console.answer("backup:pin", collection, "v1")
    console.answer("backup:hold", collection, "--reason", "case 4711")
    console.run("jobs:run", "mirror")
    console.answer("jobs:run", "journal")
    shutil.rmtree(console.folder)
    return contents, collection, tokens, printed


def test_the_page_recovers_all_that_was_acknowledged(burnt, make_console, tmp_path, offsite):
    contents, collection, tokens, printed = burnt
    (tmp_path / "new").mkdir()
    console = make_console(tmp_path / "new")
    console.database.unlink()
    settings(console, offsite)
    (console.folder / "safe.txt").write_text(printed)

    began = time.monotonic()
    for line in LINES:
        _, *arguments = shlex.split(line)
        done = console.run(*arguments, *(["--yes"] if arguments[0] == "recover" else []))
        assert "Traceback" not in done.stderr
        assert arguments[0] == "status" or done.returncode == 0, done.stderr  # no worker leads yet
        assert "were not printed for a safe" not in done.stdout  # they came out of one

    print(f"The commands of “The machine burnt” took {time.monotonic() - began:.1f} s")

    for number, content in contents.items():
        console.answer("backup:download", collection, f"v{number}", "--output", "restored.sql", "--force")
        assert content == (console.folder / "restored.sql").read_bytes()
    assert "v1" in console.answer("backup:pins", "-f", "json")
    assert "case 4711" in console.answer("backup:holds", "-f", "json")
    console.answer("storage:mirror")  # the job does it within a minute
    for folder in (console.folder / "storage", offsite):  # there are two copies again, and not only of new contents
        stored = {path.read_bytes() for path in folder.glob("??/*")}
        assert set(contents.values()) <= stored, folder
    assert [("local",)] == console.rows("SELECT DISTINCT storage FROM object WHERE role = 'first'")
    assert [("offsite", "present")] == console.rows(
        "SELECT DISTINCT storage, state FROM object WHERE storage = 'offsite'"
    )
    assert tokens == console.rows("SELECT key, roles FROM token")


@pytest.mark.costly
def test_the_script_needs_no_frepo(burnt, tmp_path, offsite):
    contents, collection, *_ = burnt

    done = subprocess.run(
        [OLD, "-I", SCRIPT, offsite, tmp_path / "out"], capture_output=True, text=True, check=False, timeout=60
    )

    assert (0, "3 contents were written") == (done.returncode, done.stderr.splitlines()[-1].partition(",")[0])
    folder = tmp_path / "out/versions" / f"db.sql-{collection}"
    found = {int(path.name.partition("-")[0]): path.read_bytes() for path in folder.iterdir()}
    assert contents == found
