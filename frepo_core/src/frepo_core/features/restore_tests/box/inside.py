"""What runs in a box: it restores a content with an engine, and reports what it has found.

Its standard input is the socket. The content may run code in the same box, so nothing here protects anything: that is
what the box is for.
"""

import importlib
import io
import os
import resource
import socket
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from frepo_core.plugins import NotDecided, NotRestored, RestoredCopy, RestoreEngine, RestoreSource
from frepo_core.plugins.discovery import CORE

from .messages import BROKEN, MAX_NAMES, MAX_TEXT, READY, RESTORED, UNDECIDED, Limits, Order, Report, meets_limit
from .unpacking import Counted, unpack

PIECE = 1 << 18


def main() -> None:
    """Carry out one order."""
    channel = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    order = Order.receive(channel)
    limit(order.limits)
    channel.sendall(READY)
    with tempfile.TemporaryDirectory(prefix="restore-", ignore_cleanup_errors=True) as folder:
        report = carry_out(order, channel, Path(folder))
    with suppress(OSError):
        channel.sendall(report.packed())


def limit(limits: Limits) -> None:
    """Limit this process and all that it starts. What is limited already stays so."""
    wanted = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_NPROC: limits.processes,
        resource.RLIMIT_FSIZE: limits.disk,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        _, most = resource.getrlimit(kind)
        allowed = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (allowed, allowed))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def carry_out(order: Order, channel: socket.socket, folder: Path) -> Report:
    """Restore, and return what was found. Whatever is raised becomes a report."""
    try:
        return _restore(order, channel, folder)
    except NotRestored as error:
        text = str(error)
        return Report(outcome=UNDECIDED if meets_limit(text) else BROKEN, message=text[:MAX_TEXT])
    except NotDecided as error:
        return Report(outcome=UNDECIDED, message=str(error)[:MAX_TEXT])
    except Exception as error:  # noqa: BLE001  # the engine's
        return Report(outcome=UNDECIDED, message=f"the engine failed: {type(error).__name__}: {error}"[:MAX_TEXT])


def _restore(order: Order, channel: socket.socket, folder: Path) -> Report:
    engine = find_engine(order.plugin, order.engine)
    counted = Counted(channel.makefile("rb", buffering=0))
    packed = io.BufferedReader(counted, PIECE)
    content = packed if order.engine == "command" else unpack(packed)
    source = RestoreSource(
        content=content,
        packed=packed,
        name=order.name,
        version=order.version,
        folder=folder,
        command=order.command,
    )
    with engine.restore(source) as copy:
        for rest in (content, packed):  # what is packed has its checksum at the end
            while rest.read(PIECE):
                pass
        numbers, wrong = _ask(copy, order.questions)
        tables = dict(list(copy.tables().items())[:MAX_NAMES])
        return Report(outcome=RESTORED, note=copy.note[:MAX_TEXT], numbers=numbers, wrong=wrong, tables=tables)


def find_engine(plugin: str, name: str) -> RestoreEngine:
    """Return an engine; the plug-in is the name of an entry point. Raises `NotDecided`."""
    found: list[RestoreEngine] = []
    if plugin == CORE:
        found = importlib.import_module("frepo_core.features.restore_tests.engines.own").ENGINES
    else:
        for entry in entry_points(group="frepo", name=plugin):
            found = entry.load().frepo_restore_engines()
    for engine in found:
        if engine.name == name:
            return engine
    raise NotDecided(f"the engine {name!r} is not installed in the box")


def _ask(copy: RestoredCopy, questions: Mapping[str, str]) -> tuple[dict[str, float | None], dict[str, str]]:
    numbers: dict[str, float | None] = {}
    wrong: dict[str, str] = {}
    for name, question in questions.items():
        try:
            numbers[name] = number_of(copy.ask(question))
        except ValueError as error:
            wrong[name] = str(error)[:MAX_TEXT]
    return numbers, wrong


def number_of(value: Any) -> float | None:
    """Return an answer as a number: a time as seconds since 1970, in UTC without a zone. Raises `ValueError`."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        with suppress(ValueError):
            return float(value)
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(f"{value!r:.80} is neither a number nor a time") from None
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return float(value)


if __name__ == "__main__":
    main()
