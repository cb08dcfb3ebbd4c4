"""Runs `frepo` in this process: the start of a process, even of a fork, takes longer than most commands."""

import atexit
import contextlib
import fcntl
import functools
import importlib.metadata
import locale
import logging
import os
import subprocess
import sys
import tempfile
import traceback

import cliff.command
import plaster
import pytest

import frepo_core.script
from frepo_core import gc_pause
from frepo_core.cli import app, command_discovery
from frepo_core.features.second_copies import fallback_notes
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.composition import assembly


class InProcessConsole:
    """Runs commands; `run` is `subprocess.run` of the script `frepo`, for text.

    What a process finds out at its start is found out once: the installed plug-ins and commands, what SQLAlchemy
    compiles, and who reads ini files. Nothing that a command changes in this process is left for the next one.
    """

    def __init__(self, make_engine):
        self._entry_points = functools.cache(importlib.metadata.entry_points)
        self._find_loaders = functools.cache(plaster.loaders.find_loaders)
        self._all_plugins = functools.cache(PluginRegistry.from_entry_points)
        self._make_engine = make_engine

    def run(self, arguments, *, env, cwd, stdin="", stdout=None, packages=None):
        """Run a command; `packages` is a folder with further installed packages, which are found anew."""
        with contextlib.ExitStack() as files:
            given, answer, errors = (files.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            given.write(stdin.encode())
            given.seek(0)
            for file in (answer, errors):  # lines are added, as to a terminal and a pipe, and none is replaced
                fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
            streams = {
                "stdin": open(os.dup(given.fileno()), encoding="utf-8"),  # noqa: SIM115  # closed by _streams
                "stdout": open(os.dup((stdout or answer).fileno()), "w", encoding="utf-8"),  # noqa: SIM115
                "stderr": open(os.dup(errors.fileno()), "w", 1, "utf-8", "backslashreplace"),  # noqa: SIM115
            }
            arguments = [os.fsdecode(argument) for argument in arguments]
            with self._process(env, cwd, streams, packages):
                status = _run_command(arguments)
            for file in (answer, errors):
                file.seek(0)
            printed = answer.read().decode(errors="surrogateescape")  # a download may print any bytes
            return subprocess.CompletedProcess(arguments, status, printed, errors.read().decode())

    @contextlib.contextmanager
    def _process(self, environment, folder, streams, packages):
        """Give this process what a new one would have, and take it away at the end."""
        at_exit = contextlib.ExitStack()
        with pytest.MonkeyPatch.context() as patch, _own_logging(), contextlib.ExitStack() as closed:
            for stream in streams.values():
                closed.enter_context(_closed_at_the_end(stream))
            before, language = dict(os.environ), locale.setlocale(locale.LC_ALL)
            closed.callback(locale.setlocale, locale.LC_ALL, language)  # cliff takes that of the environment
            closed.callback(lambda: (os.environ.clear(), os.environ.update(before)))
            os.environ.clear()
            os.environ.update(environment)
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["frepo"])
            patch.setattr(app.FrepoApp, "NAME", "frepo")
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            patch.setattr(atexit, "register", at_exit.callback)
            at_exit.callback(fallback_notes._join_threads)  # registered when this process has imported it
            for name in ("pause", "resume", "skip_at_exit"):
                patch.setattr(gc_pause, name, lambda: None)
            patch.setattr(plaster.loaders, "find_loaders", self._loaders)
            if packages:
                closed.enter_context(_installed(packages, patch))
            else:
                patch.setattr(command_discovery, "entry_points", self._entry_points)
                patch.setattr(PluginRegistry, "from_entry_points", self._plugins)
            patch.setattr(assembly, "make_engine", self._make_engine)
            with at_exit:
                yield

    def _loaders(self, scheme, protocols=None):
        return self._find_loaders(scheme, tuple(protocols or ()))

    def _plugins(self, disabled=()):
        return self._all_plugins(tuple(disabled))


@contextlib.contextmanager
def _own_logging():
    """Let a command configure the log as if nothing had done so."""
    root, frepo, factory = logging.getLogger(), logging.getLogger("frepo_core"), logging.getLogRecordFactory()
    handlers, levels, root.handlers = root.handlers, (root.level, frepo.level), []
    try:
        yield
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers = handlers
        root.setLevel(levels[0])
        frepo.setLevel(levels[1])
        logging.setLogRecordFactory(factory)


@contextlib.contextmanager
def _installed(packages, patch):
    """Let the packages in a folder be found and imported, and forget their modules at the end."""
    patch.syspath_prepend(packages)
    patch.setattr(cliff.command, "_dists_by_mods", None)  # cliff looks for packages once in a process
    try:
        yield
    finally:
        command_discovery._docstrings.cache_clear()
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(packages)):
                del sys.modules[name]


@contextlib.contextmanager
def _closed_at_the_end(stream):
    """Close a stream, whose last text may have no reader or no room."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            stream.close()


def _run_command(arguments):
    """Run the command; return the exit status that Python would end with."""
    try:
        return frepo_core.script.main(arguments) or 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except Exception:  # noqa: BLE001  # as Python ends a script
        traceback.print_exc()
        return 1
