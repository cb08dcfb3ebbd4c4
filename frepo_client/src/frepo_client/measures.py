"""Numbers of the source, measured when a backup is made: the server compares a restored copy with them."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from .errors import CommandFailedError

_MARK = "frepo-client measures "
_END = f"{_MARK}.end"
_FRACTION = re.compile(r"\.(\d+)")
_SHORT_ZONE = re.compile(r"([+-]\d\d)$")


@dataclass(frozen=True)
class Measures:
    """Which numbers to measure: `questions` are SQL by name, `recipe` and `target` say where."""

    recipe: str = ""
    target: str = ""
    questions: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def measured(
    measures: Measures, stages: Sequence[Sequence[str]], environment: Mapping[str, str]
) -> Iterator[tuple[Sequence[Sequence[str]], Mapping[str, float]]]:
    """Yield the stages of the dump and the numbers. With PostgreSQL, both are of one snapshot, which ends afterwards.

    Raises `CommandFailedError`.
    """
    if not measures.questions:
        yield stages, {}
    elif measures.recipe == "postgres":
        with _Session(measures, environment) as session:
            snapshot, numbers = session.measure()
            first = [stages[0][0], f"--snapshot={snapshot}", *stages[0][1:]]
            yield [first, *stages[1:]], numbers
    else:
        yield stages, {name: _ask(measures, sql, environment) for name, sql in measures.questions.items()}


class _Session:
    """A transaction of psql that stays open while the dump reads the same snapshot."""

    def __init__(self, measures: Measures, environment: Mapping[str, str]) -> None:
        self._measures = measures
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "--dbname", measures.target]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment}
            )
        except OSError as error:
            raise CommandFailedError(f"psql cannot be started: {error.strerror}") from None

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def measure(self) -> tuple[str, dict[str, float]]:
        """Return the name of the snapshot, and the numbers."""
        lines = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;", "SELECT pg_export_snapshot();"]
        for name, sql in self._measures.questions.items():
            lines += [rf"\echo {_MARK}{name}", f"{sql.strip().rstrip(';')};"]
        lines.append(rf"\echo {_END}")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()
        snapshot, name, answers = "", "", dict.fromkeys(self._measures.questions, "")
        for line in iter(self._process.stdout.readline, b""):
            text = line.decode("utf-8", "replace").rstrip("\n")
            if text == _END:
                return snapshot, {name: _number(name, answer) for name, answer in answers.items()}
            if text.startswith(_MARK):
                name = text[len(_MARK) :]
            elif not name:
                snapshot = snapshot or text
            else:
                answers[name] = answers[name] or text
        raise CommandFailedError(f"[job.assert] {name or 'the snapshot'}: psql has answered nothing")


def _ask(measures: Measures, sql: str, environment: Mapping[str, str]) -> float:
    if measures.recipe == "sqlite":
        command = ["sqlite3", "-readonly", measures.target, sql]
    else:
        command = ["mariadb", "--batch", "--skip-column-names", "--execute", sql, measures.target]
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        raise CommandFailedError(f"{command[0]} cannot be started: {error.strerror}") from None
    answer = done.stdout.decode("utf-8", "replace").partition("\n")[0]
    if done.returncode:
        raise CommandFailedError(f"[job.assert]: {command[0]} ended with {done.returncode} for {sql}")
    return _number(sql, answer)


def _number(name: str, text: str) -> float:
    """Return an answer as a number, a time as seconds since 1970, in UTC without a zone."""
    with contextlib.suppress(ValueError):
        return float(text)
    try:
        # The oldest Python knows only three or six digits of a second, and no zone of two digits.
        whole = _FRACTION.sub(lambda found: "." + found[1][:6].ljust(6, "0"), _SHORT_ZONE.sub(r"\1:00", text.strip()))
        moment = datetime.fromisoformat(whole)
    except ValueError:
        raise CommandFailedError(f"[job.assert] {name}: {text!r:.80} is neither a number nor a time") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
