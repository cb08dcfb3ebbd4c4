"""Runs `frepo` in a fork of a process that has already imported all modules.

Imports take ten times as long as a command itself, and the console's tests run hundreds of commands.
"""

import gc
import json
import os
import socket
import subprocess
import sys
import tempfile

LONGEST_REQUEST = 1 << 20


class PreloadedConsole:
    """The process that is forked; `run` is `subprocess.run` of the script `frepo`, for text."""

    def __init__(self):
        self._socket, theirs = socket.socketpair()
        from support.servers import log_recorder  # imported here, because the process itself does not use the tests

        command = [sys.executable, __file__, str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], env=os.environ | log_recorder.environment()
        )
        theirs.close()

    def run(self, arguments, *, env, cwd, stdin="", stdout=None, timeout=60):
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as errors:
            given.write(stdin.encode())
            given.seek(0)
            request = json.dumps([[os.fsdecode(argument) for argument in arguments], env, str(cwd)]).encode()
            files = [given.fileno(), (stdout or answer).fileno(), errors.fileno()]
            socket.send_fds(self._socket, [request], files)
            self._socket.settimeout(timeout)
            status = int(self._socket.recv(16))
            for file in (answer, errors):
                file.seek(0)
            return subprocess.CompletedProcess(arguments, status, answer.read().decode(), errors.read().decode())

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


if __name__ == "__main__":
    requests = socket.socket(fileno=int(sys.argv[1]))
    # As in the script itself; cliff reads its name when it is imported.
    sys.path[0] = os.path.dirname(sys.executable)
    sys.argv = ["frepo"]
    from importlib.metadata import entry_points

    from frepo_core import services, web  # noqa: F401  # modules that the commands need
    from frepo_core.cli import app, main  # noqa: F401  # `main` imports `app` when a command needs it
    from frepo_core.db import migrations  # noqa: F401
    from frepo_core.plugins import PluginRegistry

    PluginRegistry.from_entry_points()
    for command in entry_points(group="frepo.commands"):
        command.load()

    gc.freeze()  # otherwise garbage collection at a fork's exit would copy all objects, which takes 0.3 s
    if serve(requests):
        sys.exit(main())
