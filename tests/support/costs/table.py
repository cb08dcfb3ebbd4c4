"""The table of what requests cost, tests/project/costs.toml: measured, read and written."""

import platform
import re
import tempfile
import tomllib
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import make_url

from support.servers import postgresql

from .counter import Cost, Counter
from .relay import Relay
from .requests import Costs

TABLE = Path(__file__).parents[2] / "project/costs.toml"
# These are exactly the same each time. Calls and files depend on the versions of Python and of libraries, too.
EXACT = ("statements", "commits", "syncs", "hops", "trips")
COLUMNS = (*EXACT, "calls", "files")
WHY = "# why?"
_COUNTER = Counter()  # once: threads that begin later are counted in it
_HEAD = """\
# What one request does, counted in one process: `make costs WRITE=1` writes this file, docs/performance.md tells more.
# Who raises a figure writes the reason at the end of its line.
"""


def measure(database: str) -> dict[str, Cost]:
    """Count all requests over a new database, `sqlite` or `postgresql`."""
    counter = _COUNTER
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="frepo-costs-")))
        if database == "sqlite":
            return dict(Costs(folder, f"sqlite:///{folder}/frepo.db", counter).count())
        url = make_url(stack.enter_context(postgresql.postgresql()))
        relay = Relay(str(url.host), int(url.port or 0))
        url = url.set(port=relay.port)
        return dict(Costs(folder, url.render_as_string(hide_password=False), counter, relay).count())


def read_table(database: str) -> dict[str, dict[str, int]]:
    """Return the recorded figures of a database by the name of the request."""
    recorded: dict[str, dict[str, int]] = tomllib.loads(TABLE.read_text()).get(database, {})
    return recorded


def write_table(measured: dict[str, dict[str, Cost]]) -> None:
    """Write the file. The reason at the end of a line stays until a figure of the line rises again."""
    lines = [_HEAD, f'python = "{_python()}"\n']
    reasons = _read_reasons()
    for database, costs in measured.items():
        before = read_table(database) if TABLE.exists() else {}
        lines.append(f"\n[{database}]\n")
        for name, cost in costs.items():
            figures = {column: getattr(cost, column) for column in COLUMNS if column != "trips" or cost.trips}
            known = before.get(name, {})
            rises = known and any(figures[column] > known.get(column, 0) for column in EXACT if column in figures)
            reason = WHY if rises else reasons.get((database, name), "")
            text = ", ".join(f"{column} = {figure}" for column, figure in figures.items())
            lines.append(f'"{name}" = {{ {text} }}{"  " + reason if reason else ""}\n')
    TABLE.write_text("".join(lines))


def _read_reasons() -> dict[tuple[str, str], str]:
    reasons, database = {}, ""
    for line in TABLE.read_text().splitlines() if TABLE.exists() else ():
        if section := re.match(r"\[(\w+)\]", line):
            database = section[1]
        elif found := re.match(r'"([^"]+)" = \{.*\}\s*(#.*)', line):
            reasons[database, found[1]] = found[2]
    return reasons


def _python() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def print_costs(costs: dict[str, Cost]) -> None:
    """Print the figures of one database."""
    columns = [one for one in COLUMNS if one != "trips" or any(cost.trips for cost in costs.values())]
    print(f"{'':52}" + "".join(f"{column:>11}" for column in columns))
    for name, cost in costs.items():
        print(f"{name:52}" + "".join(f"{getattr(cost, column):>11}" for column in columns))
