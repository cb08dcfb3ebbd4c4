"""Runs `frepo` in a fork of a process that has already imported all modules and run some commands.

Imports take ten times as long as a command itself, and the console's tests run hundreds of commands.
"""

import atexit
import fcntl
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import traceback

from support.logs import log_recorder
from support.paths import TESTS
from support.servers.preloading import preload

LONGEST_REQUEST = 1 << 20


class PreloadedConsole:
    """The process that is forked; `run` is `subprocess.run` of the script `frepo`, for text."""

    def __init__(self):
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-m", "support.console.preloaded_console", str(theirs.fileno())]
        environment = os.environ | {"PYTHONPATH": str(TESTS)} | log_recorder.environment()
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)
        theirs.close()

    def run(self, arguments, *, env, cwd, stdin="", stdout=None, timeout=60):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
            given.write(stdin.encode())
            given.seek(0)
            for file in (answer, errors):  # lines are added, as to a terminal and a pipe, and none is replaced
                fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
            request = json.dumps([[os.fsdecode(argument) for argument in arguments], env, str(cwd)]).encode()
            files = [given.fileno(), (stdout or answer).fileno(), errors.fileno()]
            socket.send_fds(self._socket, [request], files)
            self._socket.settimeout(timeout)
            status = int(self._socket.recv(16))
            for file in (answer, errors):
                file.seek(0)
            printed = answer.read().decode(errors="surrogateescape")  # a download may print any bytes
            return subprocess.CompletedProcess(arguments, status, printed, errors.read().decode())

    def close(self):
        self._socket.close()
        self._process.wait(10)


def serve(requests):
    """Fork for each request. Return in each fork, which then runs `frepo`, and in the parent at the end."""
    while True:
        request, files, _, _ = socket.recv_fds(requests, LONGEST_REQUEST, 3)
        if not request:
            return False
        child = os.fork()
        if child == 0:
            take_over(files, *json.loads(request))
            return True
        for file in files:
            os.close(file)
        requests.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def take_over(files, arguments, environment, folder):
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["frepo", *arguments]


def run_command():
    """Run the command of `sys.argv`; return the exit status."""
    from frepo_core.cli import main

    try:
        return main() or 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # noqa: BLE001  # as Python ends a script
        traceback.print_exc()
        return 1


def leave(status):
    """End the process as Python does, but leave its objects alone: each would be copied from the parent's memory."""
    threading._shutdown()  # ends the executors' threads, and waits for those that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = 120
    os._exit(status)


def main():
    requests = socket.socket(fileno=int(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        preload(folder)
    is_fork = serve(requests)
    if is_fork:
        leave(run_command())


if __name__ == "__main__":
    main()
