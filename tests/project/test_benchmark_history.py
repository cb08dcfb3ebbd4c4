"""A full run of the benchmarks is compared with the last release candidate on the same kind of machine."""

import csv
import json
import subprocess
import sys

import pytest

from support.paths import ROOT

HISTORY = ROOT / "benchmarks/history.csv"
EPYC = {"processor": "AMD EPYC", "cores": "2", "disk": "ext4", "day": "2026-12-01"}
KIND = "AMD EPYC, 2 cores, ext4"
SLOW_IS_BAD, FAST_IS_GOOD = "upload : openssl", "downloads : empty view"


@pytest.fixture
def compare(tmp_path):
    """Compare measured ratios with a history of these lines; return the exit status, and the output."""

    def run(lines, *, slow, fast, machine=EPYC, slow_machine=None, full=True, candidate="0.2.0rc2"):
        history, results = tmp_path / "history.csv", tmp_path / "results.json"
        names = ["candidate", "day", "machine", SLOW_IS_BAD, FAST_IS_GOOD]
        history.write_text("\n".join([",".join(names), *lines, ""]))
        rows = [
            {"group": group, "name": name, "ratio": ratio, "is_most": is_most}
            for group, name, ratio, is_most in (("up", SLOW_IS_BAD, slow, True), ("down", FAST_IS_GOOD, fast, False))
            if ratio is not None
        ]
        machines = {"up": slow_machine or machine, "down": machine}
        results.write_text(json.dumps({"full": full, "machine": machine, "machines": machines, "rows": rows}))
        command = [sys.executable, "-m", "benchmarks.history", candidate]
        command += ["--results", str(results), "--history", str(history)]
        done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        with history.open(newline="") as file:
            return done.returncode, done.stdout + done.stderr, list(csv.DictReader(file))

    return run


def line(slow, fast, candidate="0.2.0rc1", machine=KIND):
    return f'{candidate},2026-11-22,"{machine}",{slow},{fast}'


@pytest.mark.parametrize(
    ("slow", "fast", "expected"),
    [
        (1.24, 0.81, []),
        (1.26, 0.81, [f"{SLOW_IS_BAD}: 1.26, was 1.00; worse by 26%"]),
        (0.50, 0.79, [f"{FAST_IS_GOOD}: 0.79, was 1.00; worse by 27%"]),
        (9.00, 9.00, [f"{SLOW_IS_BAD}: 9.00, was 1.00; worse by 800%"]),
    ],
)
def test_a_ratio_that_is_worse_by_more_than_a_quarter_fails(compare, slow, fast, expected):
    status, output, rows = compare([line(1, 1)], slow=slow, fast=fast)

    assert (bool(expected), expected) == (
        bool(status),
        [text.strip() for text in output.splitlines() if "worse" in text],
    )
    assert ["0.2.0rc1"] + ([] if expected else ["0.2.0rc2"]) == [row["candidate"] for row in rows]


def test_a_group_that_was_measured_on_another_kind_of_machine_is_left_out(compare):
    status, _, rows = compare([line(1, 1)], slow=9, fast=1, slow_machine=EPYC | {"processor": "Another"})

    assert (0, "", "1") == (status, rows[-1][SLOW_IS_BAD], rows[-1][FAST_IS_GOOD])


def test_the_row_of_the_candidate_is_added(compare):
    status, _, rows = compare([line(1, 1)], slow=1.1, fast=0.9)

    assert 0 == status
    added = {"candidate": "0.2.0rc2", "day": "2026-12-01", "machine": KIND, SLOW_IS_BAD: "1.1", FAST_IS_GOOD: "0.9"}
    assert added == rows[-1]


def test_only_the_last_candidate_on_the_same_kind_of_machine_is_compared(compare):
    before = [line(9, 9, "0.1.0"), line(1, 1, "0.2.0rc1"), line(0.1, 9, "0.2.0rc1", "another, 64 cores, xfs")]

    status, output, _ = compare(before, slow=1.1, fast=0.9)

    assert 0 == status, output


def test_another_kind_of_machine_starts_its_own_rows(compare):
    status, _, rows = compare([line(0.1, 9)], slow=1.1, fast=0.9, machine=EPYC | {"cores": "8"})

    assert (0, [KIND, "AMD EPYC, 8 cores, ext4"]) == (status, [row["machine"] for row in rows])


def test_a_second_run_replaces_the_row_and_is_compared_with_the_candidate_before(compare):
    before = [line(1, 1), line(1.2, 0.9, "0.2.0rc2")]

    assert 1 == compare(before, slow=1.4, fast=0.9)[0]
    status, _, rows = compare(before, slow=1.1, fast=0.9)

    assert (0, ["1", "1.1"]) == (status, [row[SLOW_IS_BAD] for row in rows])


def test_a_ratio_that_is_not_measured_any_more_is_named(compare):
    status, output, rows = compare([line(1, 1)], slow=None, fast=1)

    assert (0, "") == (status, rows[-1][SLOW_IS_BAD])
    assert f"not measured any more: {SLOW_IS_BAD}" in output


def test_a_short_run_is_refused(compare):
    status, output, rows = compare([line(1, 1)], slow=1, fast=1, full=False)

    assert (1, 1) == (status, len(rows))
    assert "make bench-full" in output


def test_the_history_of_the_project_is_complete():
    with HISTORY.open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["candidate"], row["machine"]) for row in rows]

    assert len(set(keys)) == len(keys) > 0
    assert all(float(text) > 0 for row in rows for name, text in list(row.items())[3:] if text)
