"""What each program writes: whole files are never suspected, cut ones and those of a killed program are found.

`written.tar.xz` has a small file of each program, for the short form. `docs/integrity-results.md` has a table.
"""

import os
import random
import re
import shutil
import tarfile
from dataclasses import dataclass
from io import BytesIO

import pytest

from frepo_core.domain.backups.verdicts import CheckFact
from frepo_integrity.outcomes import BrokenContent
from support.compressors import rows
from support.dumps.programs import run
from support.dumps.writers import OTHERS, WRITERS
from support.paths import ROOT
from support.scale import IS_BIG, only_in_long_form

STORED = ROOT / "tests/support/dumps/written.tar.xz"
PAGE = ROOT / "docs/integrity-results.md"
START, END = "<!-- The table of writers begins. -->\n", "<!-- The table of writers ends. -->\n"
WRITE = "FREPO_WRITE_TABLE"
BAD = {"broken", "suspicious"}
HEAD = ("Format", "Written by", "Whole", "Cut at 50 %", "Cut at 90 %", "Last 100 bytes missing", "Writer killed")


@pytest.fixture(scope="module")
def judge(check, check_quickly):
    """Return the verdict about a content."""

    def judge(content, suffix, *, is_large=False):
        found = (check_quickly if is_large else check)(content, f"a.{suffix}")
        if isinstance(found, BrokenContent):
            return found.verdict
        return CheckFact(name="integrity", outcome=found.outcome, covers=found.covers).verdict.value

    return judge


def cuts(content):
    """Return what is left and what is missing, at 50 % and 90 %, and without the last 100 bytes."""
    places = (len(content) // 2, len(content) * 9 // 10, len(content) - 100)
    return [(content[:place], content[place:]) for place in places]


def make_tree(folder, size):
    """Make a folder with what archives store in their own ways, a repository of git; return it and a dump."""
    tree = folder / "tree/files"
    (tree / "sub").mkdir(parents=True)
    (tree / "noise.bin").write_bytes(random.Random(1).randbytes(size))
    (tree / "sub/text.txt").write_text("a line of text\n" * (size // 300))
    (tree / "empty").touch()
    os.link(tree / "sub/text.txt", tree / "hard")
    (tree / "soft").symlink_to("empty")
    with open(tree / "holes", "wb") as file:
        for start in range(0, size * 10, 20_000):
            file.seek(start)
            file.write(b"x")
    shutil.copytree(tree, folder / "tree/repository", symlinks=True)
    git = ["git", "-C", str(folder / "tree/repository"), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        run(*git, *words)
    (folder / "dump.sql").write_bytes(rows(size * 3))
    return tree, folder / "dump.sql"


@dataclass(frozen=True)
class Result:
    """What was found of one writer's file: verdicts, and a word of the table for each kind of damage."""

    whole: str
    large: str
    words: tuple[str, ...]


@pytest.fixture(scope="module")
def results(judge, tmp_path_factory):
    """The results by format and label. What needs Java is only in the long form."""
    folder = tmp_path_factory.mktemp("writers")
    tree, dump = make_tree(folder, 60_000)

    def result(writer):
        out = folder / f"out.{writer.suffix}"
        content = writer.write(tree, dump, out)
        killed = writer.write(tree, dump, out, limit=len(content) * 6 // 10)
        words = [word(judge(left, writer.suffix), missing) for left, missing in cuts(content)]
        left = killed and word(judge(killed, writer.suffix), content[len(killed) :])
        words.append(left or ("no file" if killed is None else "empty file"))
        return Result(judge(content, writer.suffix), judge(content, writer.suffix, is_large=True), tuple(words))

    return {
        (name, writer.label): result(writer)
        for name, writers in WRITERS.items()
        if IS_BIG or "Java" not in name
        for writer in writers
    }


def word(verdict, missing):
    if verdict in BAD:
        return "found"
    return "not seen" if missing.strip(b"\0") else "only padding"


@pytest.mark.costly
def test_no_whole_file_is_suspected(results):
    wrong = {where: (one.whole, one.large) for where, one in results.items() if BAD & {one.whole, one.large}}

    assert {} == wrong
    assert not {where for where, one in results.items() if (where[0] == OTHERS) != (one.whole == "unchecked")} - {
        ("zip", label) for _, label in results if re.search("-e`|-m[me]|encrypted", label)
    }


@pytest.mark.costly
def test_each_cut_is_found(results):
    unseen = {where for where, one in results.items() if where[0] != OTHERS and "not seen" in one.words}

    assert set() == unseen


def make_table(results):
    """Return the lines of the table: one for all writers of a format with the same results."""
    lines = {}
    for (name, label), one in results.items():
        lines.setdefault((name, one.whole, *one.words), []).append(label)
    table = [HEAD, ("---",) * len(HEAD)]
    table += [(name, ", ".join(labels), *found) for (name, *found), labels in lines.items()]
    return "".join(f"| {' | '.join(line)} |\n" for line in table)


@pytest.mark.costly
@only_in_long_form
def test_the_table_is_current(results, tmp_path):
    before, rest = PAGE.read_text().split(START)
    old, after = rest.split(END)
    table = make_table(results)
    if os.environ.get(WRITE):
        PAGE.write_text(f"{before}{START}{table}{END}{after}")
        store(tmp_path)
        return

    assert table == old, f"run FREPO_TEST_BIG=1 {WRITE}=1 .venv/bin/pytest {__file__}"


def store(folder):
    """Write a small file of each writer."""
    tree, dump = make_tree(folder, 600)
    with tarfile.open(STORED, "w:xz") as archive:
        for name, writers in WRITERS.items():
            for writer in writers:
                member = tarfile.TarInfo(f"{name}/{writer.label.replace('/', ' ')}.{writer.suffix}")
                content = writer.write(tree, dump, folder / f"out.{writer.suffix}")
                member.size = len(content)
                archive.addfile(member, BytesIO(content))


@pytest.fixture(scope="module")
def stored():
    """The small files by format, label and suffix."""
    with tarfile.open(STORED) as archive:
        named = {re.fullmatch(r"([^/]+)/(.*)\.(\w+)", member.name): member for member in archive.getmembers()}
        return {match.groups(): archive.extractfile(member).read() for match, member in named.items()}


def test_each_writer_has_a_stored_file(stored):
    assert {(name, writer.label.replace("/", " ")) for name, writers in WRITERS.items() for writer in writers} == {
        (name, label) for name, label, _ in stored
    }


def test_no_stored_file_is_suspected(stored, judge):
    for (name, label, suffix), content in stored.items():
        for is_large in (False, True):
            assert judge(content, suffix, is_large=is_large) not in BAD, (name, label)


def test_each_cut_of_a_stored_file_is_found(stored, judge):
    for (name, label, suffix), content in stored.items():
        for left, missing in cuts(content) if name != OTHERS else ():
            assert judge(left, suffix) in BAD or not missing.strip(b"\0"), (name, label, len(left))
