"""The engine `command`: the command of the settings, in the box. Its exit status is the answer."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from frepo_core.plugins import NotDecided, NotRestored, PlainCopy, RestoreSource

from ..exit_status import NOT_TESTED, SKIPPED

PIECE = 1 << 18


@contextmanager
def run_command(source: RestoreSource) -> Iterator[PlainCopy]:
    """Write the content, as it was uploaded, to the command's standard input."""
    if not source.command:
        raise NotDecided("restore_tests.command is not set")
    status, is_whole = _run(source)
    if status == SKIPPED:
        raise NotDecided(f"the command cannot test this version (exit status {SKIPPED})")
    if status in NOT_TESTED:
        raise NotDecided(NOT_TESTED[status])
    if status < 0:
        raise NotDecided(f"the command was killed by signal {-status}")
    if status:
        raise NotRestored(f"the command ended with exit status {status}")
    if not is_whole:
        raise NotDecided("the command ended with exit status 0, but it has not read all")
    yield PlainCopy()


def _run(source: RestoreSource) -> tuple[int, bool]:
    try:
        process = subprocess.Popen(source.command, stdin=subprocess.PIPE, stdout=2, cwd=source.folder)
    except OSError as error:
        raise NotDecided(f"the command {source.command[0]!r} cannot be started: {error.strerror}") from error
    assert process.stdin is not None
    try:
        with process.stdin:
            while data := source.packed.read(PIECE):
                process.stdin.write(data)
    except BrokenPipeError:
        return process.wait(), False
    return process.wait(), True
