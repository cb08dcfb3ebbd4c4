"""`make serve` and `make demo` in folders with spaces and apostrophes. Nothing is started: BIN has stubs."""

import os
import shlex
import subprocess

import pytest

from support.paths import ROOT


@pytest.fixture
def make(tmp_path):
    """Run a target of the Makefile with stubs for the console and the server."""
    stubs = tmp_path / "bin"
    stubs.mkdir()
    for name in ("frepo", "python"):
        (stubs / name).write_text("#!/bin/sh\necho stub\n")
        (stubs / name).chmod(0o755)

    def make(target, state):
        command = ["make", "-o", "install", target, f"BIN={stubs}", f"STATE={state}"]
        path = {"PATH": os.environ["PATH"]}
        return subprocess.run(command, cwd=ROOT, env=path, capture_output=True, text=True, check=True).stdout

    return make


@pytest.mark.parametrize("name", ["my state", "o'brien's state", "a$b"])
def test_the_environment_can_be_read_whatever_the_folder_is_called(make, tmp_path, name):
    state = tmp_path / name
    make("serve", str(state).replace("$", "$$"))
    read = f". {shlex.quote(str(state / 'environment'))} && printenv FS_LOCAL_DIRECTORY"

    done = subprocess.run(
        ["sh", "-c", read], cwd="/", capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]}
    )

    assert (f"{state}/storage\n", "") == (done.stdout, done.stderr)


def test_the_command_that_demo_prints_can_be_run(make, tmp_path):
    state = tmp_path / "my state"

    printed = make("demo", state).splitlines()[-1].partition(": ")[2]

    assert ["make", "serve", f"STATE={state}"] == shlex.split(printed)


def test_another_state_is_used_in_a_shell_that_has_read_the_environment_of_the_first(make, tmp_path):
    """docs/tutorial.md: after `make serve`, run `. var/environment`; STATE is the folder of the state."""
    first, second = tmp_path / "first", tmp_path / "second"
    make("serve", first)
    stub = f"BIN={tmp_path / 'bin'}"
    serve = f"make -s -o install serve {stub} STATE={second}"
    script = f". {first}/environment; {serve}; . {second}/environment; echo $DATABASE_URL"

    done = subprocess.run(
        ["sh", "-c", script], cwd=ROOT, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True
    )

    assert f"sqlite:///{second}/frepo.db" == done.stdout.splitlines()[-1]
