"""Backups that the real programs made: whole ones are never suspected, cut ones and those of killed programs are found.

`docs/integrity-results.md` has a table.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain

import pytest

from frepo_core.domain.backups.verdicts import CheckFact
from frepo_integrity.outcomes import BrokenContent
from support.compressors import rows
from support.dumps import archives, cuts, small_databases
from support.dumps.mariadb import mariadb_samples
from support.dumps.postgresql import postgresql_samples
from support.dumps.programs import NOISE, run
from support.paths import ROOT

pytestmark = pytest.mark.costly

PAGE = ROOT / "docs/integrity-results.md"
START, END = "<!-- The table begins. -->\n", "<!-- The table ends. -->\n"
WRITE = "FREPO_WRITE_TABLE"
ENOUGH_CUT, ENOUGH_KILLED = 0.95, 0.9
# A row is `found` from this share on: some archives end with kilobytes of zeros, and a cut in them loses nothing.
MOSTLY = 0.8


@pytest.fixture(scope="module")
def samples(postgresql_server, mariadb_server, tmp_path_factory):
    """All samples by their names, as the table lists them."""
    folder = lambda: tmp_path_factory.mktemp("samples")  # each maker gets one of its own
    with ExitStack() as stack:
        postgresql = stack.enter_context(postgresql_samples(postgresql_server.emptied(), folder()))
        mariadb = stack.enter_context(mariadb_samples(mariadb_server.emptied(), folder()))
        return {
            **postgresql,
            **mariadb,
            **dict(small_databases.sqlite_samples(folder())),
            **dict(small_databases.redis_samples(folder())),
            **dict(small_databases.etcd_samples(folder())),
            **dict(small_databases.ldap_samples(folder())),
            "GitLab, `gitlab-backup create`": archives.gitlab_sample(folder(), postgresql["`pg_dump`"].content),
            **dict(archives.archive_samples(folder())),
            **dict(archives.image_samples(folder())),
            **dict(archives.encrypted_samples(folder())),
            **dict(archives.compressed_samples(rows(100_000))),
        }


@pytest.fixture(scope="module")
def judge(check, check_quickly):
    """Return the verdict about a content, and its reason. `is_large`: by what is checked of a large one at once."""

    def judge(content, name, *, is_large=False):
        found = (check_quickly if is_large else check)(content, name)
        if isinstance(found, BrokenContent):
            return found.verdict, found.message
        fact = CheckFact(name="integrity", outcome=found.outcome, covers=found.covers)
        return fact.verdict.value, found.message

    return judge


@dataclass(frozen=True)
class Result:
    """What was found of one sample: verdicts, by what was done to it."""

    whole: list[tuple[str, str]]
    at_60_percent: list[str]
    near_the_end: list[str]
    killed: list[str]


def share(verdicts):
    """Return the share of those that would go into quarantine."""
    return sum(one in {"broken", "suspicious"} for one in verdicts) / len(verdicts)


@pytest.fixture(scope="module")
def results(samples, judge):
    def result(sample):
        packed = [*cuts.whole(sample)]
        whole = [judge(content, name, is_large=is_large) for is_large in (False, True) for name, content in packed]
        return Result(
            whole,
            [judge(content, sample.file_name)[0] for content in cuts.cuts_at_60_percent(sample.content)],
            [judge(content, sample.file_name)[0] for content in cuts.cuts_near_the_end(sample.content)],
            [judge(content, name)[0] for name, content in cuts.killed(sample)],
        )

    return {name: result(sample) for name, sample in samples.items()}


def test_no_whole_backup_is_suspected(results):
    wrong = {
        name: [one for one in result.whole if one[0] in {"broken", "suspicious"}] for name, result in results.items()
    }

    assert {} == {name: found for name, found in wrong.items() if found}


def test_what_has_an_end_is_complete_or_whole(samples, results):
    verdicts = {name: results[name].whole[0][0] for name, sample in samples.items() if sample.has_end}

    assert "zip, encrypted" in verdicts and verdicts.pop("zip, encrypted") == "unchecked"
    assert {"complete", "whole"} == set(verdicts.values())
    assert {"unchecked"} == {results[name].whole[0][0] for name, sample in samples.items() if not sample.has_end}


def test_cut_ones_are_found(samples, results):
    for cut in ("at_60_percent", "near_the_end"):
        found = chain.from_iterable(getattr(results[name], cut) for name in samples if samples[name].has_end)

        assert share(list(found)) >= ENOUGH_CUT, cut


def test_those_of_killed_programs_are_found(samples, results):
    found = chain.from_iterable(results[name].killed for name in samples if samples[name].has_end)

    assert share(list(found)) >= ENOUGH_KILLED


def word(verdicts):
    if not verdicts:
        return "–"
    found = share(verdicts)
    return "found" if found >= MOSTLY else "not seen" if not found else "in part"


def make_table(samples, results):
    head = ["Format", "Whole", "Cut at 60 %", "Cut in the last 64 KiB", "Program killed, compression ended"]
    lines = [head, ["---"] * len(head)]
    for name, result in results.items():
        if samples[name].is_listed:
            label = name if samples[name].has_end else f"{name} (no end mark)"
            columns = [word(one) for one in (result.at_60_percent, result.near_the_end, result.killed)]
            lines.append([label, result.whole[0][0], *columns])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def test_the_table_is_current(samples, results):
    page = PAGE.read_text()
    before, rest = page.split(START)
    old, after = rest.split(END)
    table = make_table(samples, results)
    if os.environ.get(WRITE):
        PAGE.write_text(f"{before}{START}{table}{END}{after}")
        return

    assert table == old, f"run {WRITE}=1 .venv/bin/pytest {__file__}"


def test_what_follows_the_end_is_noticed(samples, judge):
    formats = [name for name in samples if name.startswith(("Redis, RDB", "etcd", "cpio", "7z", "squashfs", "`git"))]
    for name in [*formats, "`pg_dump -Fc`", "OpenPGP"]:
        content = samples[name].content + b"curl: (28) timeout\n"

        assert judge(content, samples[name].file_name)[0] in {"broken", "unchecked"}, name


def test_each_cut_of_a_short_custom_dump_is_found(samples, check):
    for name in ("`pg_dump -Fc`", "`pg_dump -Fc -Z0`", "`pg_dump -Fc --file`", "`pg_dump -Fc --schema-only`"):
        content = samples[name].content

        for size in (len(content) * 6 // 10, len(content) - 1, 300):
            assert isinstance(check(content[:size]), BrokenContent), (name, size)


def test_a_dump_in_several_files_says_its_database(samples, check):
    for name in ("`pg_dump -Fc`", "`pg_dump -Ft`", "`pg_dump -Fd` in tar"):
        report = check(samples[name].content)

        assert ("content", "PostgreSQL archive", "shop") == (report.covers, report.names[-1], report.database), name


def test_a_stream_without_the_file_that_is_written_last_is_broken(samples, check):
    content = samples["`mariadb-backup --stream=xbstream`"].content
    last_file = content.rindex(b"XBSTCK01", 0, content.index(b"xtrabackup_info"))
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 1

    assert "written last, is missing" in check(content[:last_file]).message
    assert isinstance(check(bytes(damaged)), BrokenContent)


def test_a_dump_of_sqlite3_after_errors_is_broken(samples, check):
    content = samples["SQLite, `.dump`"].content

    assert isinstance(check(content[:-2]), BrokenContent)
    assert isinstance(check(content.replace(b"COMMIT;", b"ROLLBACK; -- due to errors")), BrokenContent)


def test_the_log_of_an_older_redis_is_not_taken_for_a_database(check):
    log = b"REDIS0009\xfa\x09redis-ver\x056.2.6\xfa\x0caof-preamble\xc0\x01\xff" + bytes(8) + b"*1\r\n$4\r\nPING\r\n"

    assert "not checked" == check(log).outcome
    assert isinstance(check(log.replace(b"\xc0\x01", b"\xc0\x00")), BrokenContent)


def test_what_age_encrypted_is_not_called_good(check, tmp_path):
    run("age-keygen", "-o", "key", folder=tmp_path)
    recipient = run("age-keygen", "-y", "key", folder=tmp_path).decode().strip()
    content = run("age", "-r", recipient, data=NOISE)
    start = content.index(b"\n--- ") + 5 + content[content.index(b"\n--- ") + 5 :].index(b"\n") + 1 + 16

    assert "not checked" == check(content).outcome
    for form in ([], ["--armor"]):
        assert "There is nothing in the encrypted file" == check(run("age", *form, "-r", recipient, data=b"")).message
    assert "not checked" == check(run("age", "-r", recipient, data=b"x")).outcome
    assert isinstance(check(content[:100]), BrokenContent)
    assert isinstance(check(content[: start + (64 << 10) + 16 + 5]), BrokenContent)
