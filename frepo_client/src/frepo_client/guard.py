"""Kills the command of a restore if the client is killed: the end of its input would look like that of the content."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

# It holds the input of the command open. A byte dismisses it; without one, its own input ends with the client.
_PROGRAM = """
import os, signal, sys
if not os.read(0, 1):
    os.killpg(int(sys.argv[1]), signal.SIGKILL)
"""


class Guard:
    """A process that waits for the end of this one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def dismiss(self) -> None:
        """End it: from now on the command may see the end of its input."""
        with contextlib.suppress(OSError):
            self._process.communicate(b".")


def start_guard(command: subprocess.Popen[bytes]) -> Guard | None:
    """Guard a command that leads a process group of its own. Windows has no groups, so no guard."""
    if os.name != "posix" or command.stdin is None:
        return None
    try:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(command.pid)],
            stdin=subprocess.PIPE,
            pass_fds=[command.stdin.fileno()],
            start_new_session=True,
        )
    except OSError:
        return None
    return Guard(process)
