"""`make breaks`: breaks the source, one line at a time, and says which breaks no test has noticed."""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from support.paths import ROOT

from .copied_tree import LONGEST_TEST, CopiedTree
from .entries import LIST, Break, read_list


def main(arguments: list[str]) -> int:
    """Run the chosen breaks; return 0 if each was noticed."""
    options = _parse(arguments)
    breaks = _choose(read_list(options.list), options)
    with tempfile.TemporaryDirectory(prefix="frepo-breaks-") as folder:
        return 1 if find_unnoticed(breaks, CopiedTree(Path(folder))) else 0


def find_unnoticed(breaks: list[Break], tree: CopiedTree) -> list[Break]:
    """Return the breaks that their tests do not notice. Exits if a test fails without a break."""
    tests = sorted({entry.test for entry in breaks})
    print(f"{len(breaks)} breaks; first their {len(tests)} tests without a break")
    if tests and (done := tree.run(*tests)).returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nNothing is broken yet, and a test failed already")
    unnoticed = []
    for number, entry in enumerate(breaks, 1):
        began = time.monotonic()
        result = _try(entry, tree)
        print(f"{number:3} {result:10} {time.monotonic() - began:5.1f} s  {entry.name}", flush=True)
        if result != "noticed":
            unnoticed.append(entry)
    for entry in unnoticed:
        print(f"Not noticed: {entry.name}\n    {entry.before}\n    {entry.after or '(left out)'}\n    by {entry.test}")
    print(f"{len(breaks) - len(unnoticed)} of {len(breaks)} breaks were noticed")
    return unnoticed


def _try(entry: Break, tree: CopiedTree) -> str:
    with tree.broken(entry):
        try:
            done = tree.run(entry.test)
        except subprocess.TimeoutExpired:
            return f"hung {LONGEST_TEST} s"
    summary = done.stdout.rstrip().rpartition("\n")[2]
    if done.returncode == 1 and re.search(r"\d+ failed", summary):
        return "noticed"
    if done.returncode == 0:
        return "green" if " passed" in summary else "skipped"
    print(done.stdout, done.stderr)  # such as a module that cannot be imported: that says nothing about the test
    return "no result"


def _choose(breaks: list[Break], options: argparse.Namespace) -> list[Break]:
    if options.since:
        command = ["git", "diff", "--name-only", "--no-renames", options.since]
        changed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        breaks = [entry for entry in breaks if {entry.file, entry.test.partition("::")[0]} & set(changed)]
    if options.random and options.random < len(breaks):
        seed = random.randrange(10**6) if options.seed is None else options.seed
        print(f"A random {options.random} of {len(breaks)}; the seed is {seed}")
        breaks = random.Random(seed).sample(breaks, options.random)
    return breaks


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make breaks", description=__doc__)
    parser.add_argument("--random", type=int, metavar="N", help="only N of them, by chance")
    parser.add_argument("--seed", type=int, help="the seed that an earlier run with --random has printed")
    parser.add_argument("--since", metavar="COMMIT", help="only those whose file or test has changed since a commit")
    parser.add_argument("--list", type=Path, default=LIST, help="another list of breaks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
