"""Compares the ratios of a full run with those of the last release candidate, and adds them to history.csv.

`python -m benchmarks.history [CANDIDATE]`, by default for what `git describe` names. Rows of other kinds of machines
are not compared. The exit status is 1 if a ratio is worse by more than 25 %; nothing is added then.
"""

import argparse
import csv
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ALLOWED = 1.25
COLUMNS = ("candidate", "day", "machine")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """The ratios of a release candidate on one kind of machine, by the names of their rows."""

    candidate: str
    day: str
    machine: str
    ratios: dict[str, float]


def main() -> None:
    """Print what got worse and end with status 1, or add the row."""
    parser = argparse.ArgumentParser(prog="benchmarks.history", description=__doc__)
    parser.add_argument("candidate", nargs="?", help="the name of the release candidate")
    parser.add_argument("--results", type=Path, default=HERE / "results.json", help="the results of `make bench-full`")
    parser.add_argument("--history", type=Path, default=HERE / "history.csv", help="the file to compare with")
    options = parser.parse_args()
    results = json.loads(options.results.read_text())
    if not results["full"]:
        sys.exit(f"{options.results}: only a full run can be compared; run `make bench-full`")
    entry = entry_of(results, options.candidate or _described())
    entries = read(options.history)
    # A second run for a candidate is compared with the candidate before it, and replaces its first row.
    earlier = [each for each in entries if each.machine == entry.machine and each.candidate != entry.candidate]
    if earlier and _report(results["rows"], entry, earlier[-1]):
        sys.exit(1)
    kept = [each for each in entries if (each.candidate, each.machine) != (entry.candidate, entry.machine)]
    write(options.history, [*kept, entry])
    print(f"{options.history.name}: {len(entry.ratios)} ratios of {entry.candidate} on {entry.machine}")


def entry_of(results: dict[str, Any], candidate: str) -> Entry:
    """Return the entry of a run, without the groups that were measured on another kind of machine, earlier."""
    kind = kind_of(results["machine"])
    kinds = {group: kind_of(machine) for group, machine in results["machines"].items()}
    ratios = {row["name"]: row["ratio"] for row in results["rows"] if kinds.get(row["group"], kind) == kind}
    return Entry(candidate=candidate, day=results["machine"]["day"], machine=kind, ratios=ratios)


def kind_of(machine: dict[str, str]) -> str:
    """Return the kind of a machine: processor, cores and disk."""
    return f"{machine['processor']}, {machine['cores']} cores, {machine['disk']}"


def losses(rows: list[dict[str, Any]], last: Entry) -> list[str]:
    """Return a line for each ratio that is worse than the last one by more than 25 %."""
    found = []
    for row in rows:
        before = last.ratios.get(row["name"])
        if before is None:
            continue
        factor = row["ratio"] / before if row["is_most"] else before / row["ratio"]
        if factor > ALLOWED:
            found.append(f"{row['name']}: {row['ratio']:.2f}, was {before:.2f}; worse by {factor - 1:.0%}")
    return found


def read(path: Path) -> list[Entry]:
    """Return all entries, the oldest first. An empty cell is a ratio that was not measured."""
    with path.open(newline="") as file:
        return [
            Entry(
                **{name: line[name] for name in COLUMNS},
                ratios={name: float(text) for name, text in line.items() if name not in COLUMNS and text},
            )
            for line in csv.DictReader(file)
        ]


def write(path: Path, entries: list[Entry]) -> None:
    """Replace the file, with a column for each ratio that any entry has."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.ratios))
    with path.open("w", newline="") as file:
        lines = csv.DictWriter(file, [*COLUMNS, *names], lineterminator="\n")
        lines.writeheader()
        for entry in entries:
            ratios = {name: f"{ratio:.4g}" for name, ratio in entry.ratios.items()}
            lines.writerow({name: getattr(entry, name) for name in COLUMNS} | ratios)


def _report(rows: list[dict[str, Any]], entry: Entry, last: Entry) -> bool:
    """Print the losses against the last entry, and what only that one measured; return whether there are losses."""
    found = losses([row for row in rows if row["name"] in entry.ratios], last)
    print(f"{entry.candidate} compared with {last.candidate} of {last.day}: {len(found)} losses over {ALLOWED - 1:.0%}")
    print("".join(f"  {line}\n" for line in found), end="")
    gone = [name for name in last.ratios if name not in entry.ratios]
    print("".join(f"  not measured any more: {name}\n" for name in gone), end="")
    return bool(found)


def _described() -> str:
    command = ["git", "-C", str(HERE), "describe", "--tags", "--always"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
