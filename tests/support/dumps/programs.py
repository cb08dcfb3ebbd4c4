"""Runs the programs that make backups. A test is skipped if one is not installed."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from support.servers.processes import running_process

# Bytes that cannot be compressed, and are the same in each run.
NOISE = bytes((number * number * 2654435761 >> 13) & 0xFF for number in range(200_000))


def require(program: str) -> None:
    """Skip the test if a program is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: make services")


def run(*words: str, folder: Path | None = None, data: bytes | None = None, **environment: str) -> bytes:
    """Run a program in a folder with these bytes as its input; return its output."""
    require(words[0])
    done = subprocess.run(words, cwd=folder, input=data, env=os.environ | environment, capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def server(
    command: list[str], folder: Path, answers: Callable[[], bool]
) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """Run a server until the end of the block."""
    require(command[0])
    return running_process(command, folder, answers)


def answers(*words: str, expected: bytes | None = None, **environment: str) -> bool:
    """Whether a program succeeds, and writes this if it is given."""
    done = subprocess.run(words, env=os.environ | environment, capture_output=True, check=False)
    return not done.returncode and expected in {None, done.stdout}
