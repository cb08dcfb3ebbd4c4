"""The list of breaks fits the source and the tests that it names, and `make breaks` names what is not noticed."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from support.breaks.entries import Break, read_list
from support.paths import ROOT

BREAKS = read_list()
SIZES = ROOT / "frepo_core/src/frepo_core/domain/sizes.py"
TESTS = "tests/unit/domain/test_sizes.py"


def entry(**changes):
    values = {
        "promise": "a size below one byte is refused",
        "file": str(SIZES.relative_to(ROOT)),
        "before": "if 0 < exact < 1:",
        "after": "if False:",
        "test": f"{TESTS}::test_fractions_of_a_unit_are_exact_and_fractions_of_a_byte_are_dropped",
    }
    return Break(**(values | changes))


def test_each_break_fits_the_source_and_its_test():
    assert [] == [problem for one in BREAKS if (problem := one.find_problem())]


def test_no_break_is_listed_twice():
    changes = [(one.file, one.within, one.before, one.after) for one in BREAKS]
    names = [one.name for one in BREAKS]

    assert (len(changes), len(names)) == (len(set(changes)), len(set(names)))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"before": "if exact:"}, "0 times, and not once: if exact:"),
        ({"before": 'raise ValueError("cannot_parse_disk_space_check_format")'}, "3 times, and not once"),
        ({"within": "if exact:"}, "0 times, and not once: if exact:"),
        ({"after": "if False"}, "expected ':'"),
        ({"after": "if 0 < exact < 1:"}, "before and after are the same"),
        ({"file": "frepo_core/sizes.py"}, "frepo_core/sizes.py does not exist"),
        ({"test": "tests/unit/domain/test_size.py::test_a"}, "tests/unit/domain/test_size.py does not exist"),
        ({"test": "tests/unit/domain/test_sizes.py::test_a"}, "has no test test_a"),
        ({"test": "tests/client/test_many_clients.py::test_many"}, "has no test test_many"),
    ],
)
def test_what_does_not_fit_is_said(changes, problem):
    assert problem in str(entry(**changes).find_problem())


def test_a_test_that_the_short_form_leaves_out_does_not_count():
    costly = "tests/live/startup/test_editable.py::test_a_failure_of_pip_is_the_status"

    assert "costly" in str(entry(test=costly).find_problem())


def test_a_test_in_a_class_counts_with_the_marks_of_its_module_and_of_its_class(tmp_path):
    module = tmp_path / "test_it.py"
    test = "    def test_b(self): ...\n"
    module.write_text(f"class TestA:\n{test}\n@pytest.mark.costly\nclass TestC(TestA):\n{test}")

    names = ("TestA::test_b", "TestA::test_c", "TestC::test_b")
    problems = [entry(test=f"{module}::{name}").find_problem() for name in names]
    module.write_text("pytestmark = [pytest.mark.server, pytest.mark.costly]\n" + module.read_text())

    assert [None, f"{module} has no test TestA::test_c"] == problems[:2]
    assert "is costly" in problems[2]
    assert "is costly" in entry(test=f"{module}::TestA::test_b").find_problem()


def test_a_line_that_is_there_more_than_once_is_named_by_one_before_it():
    one = entry(
        within="if 0 < exact < 1:",
        before='raise ValueError("cannot_parse_disk_space_check_format")',
        after="pass",
    )

    assert one.find_problem() is None
    changed = [line for line in one.apply(SIZES.read_text()).splitlines() if line not in SIZES.read_text().splitlines()]
    assert ["        pass"] == changed


def run(folder, *entries):
    """Run `make breaks` with a list of its own; return the status and the output."""
    listed = folder / "breaks.toml"
    listed.write_text("".join(f"[[breaks]]\n{_lines(one)}\n" for one in entries))
    command = [sys.executable, "-m", "support.breaks", "--list", listed]
    done = subprocess.run(command, cwd=ROOT / "tests", capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def _lines(one):
    return "".join(f"{name} = '''{value}'''\n" for name, value in vars(one).items() if value is not None)


@pytest.mark.costly
def test_a_break_that_its_test_does_not_notice_is_named(tmp_path):
    source = SIZES.read_bytes()
    other = entry(
        promise="the largest size is odd",
        before="MAX_SIZE = 2**63 - 1",
        after="MAX_SIZE = 2**63 - 2",
        test="tests/unit/domain/test_sizes.py::test_a_number_is_bytes",
    )
    broken = replace(other, promise="there is a largest size", after="MAX_SIZE = LARGEST")

    status, output = run(tmp_path, entry(), other, broken)

    assert status == 1
    results = re.findall(r"^ +\d (noticed|green|no result) .* s  .*: (.*)$", output, re.MULTILINE)
    assert [("noticed", entry().promise), ("green", other.promise), ("no result", broken.promise)] == results
    assert [other.name, broken.name] == re.findall("^Not noticed: (.*)$", output, re.MULTILINE)
    assert source == SIZES.read_bytes()
