"""Counts what each request costs, the same on every machine: `make costs`.

A test compares the figures with tests/project/costs.toml. `--write` writes that file. A line whose figure rises then
ends with `# why?`: the reason belongs there. Without it, the floors of small requests follow, and whose code takes the
rest: those are times.
"""

import argparse
import subprocess
import sys

from support.costs.table import measure, print_costs, write_table


def main() -> None:
    """Print the tables, and write the file if that is asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks.costs", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write tests/project/costs.toml")
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgresql"], metavar="DATABASE")
    options = parser.parse_args()
    measured = {}
    for database in options.databases:
        print(f"\n{database}")
        measured[database] = measure(database)
        print_costs(measured[database])
    if options.write:
        write_table(measured)
    else:  # in a process of its own: threads of this one are counted, which takes time
        for table in ("floors", "shares"):
            print(flush=True)
            subprocess.run([sys.executable, "-m", f"benchmarks.{table}"], check=True)


if __name__ == "__main__":
    main()
