"""`frepo notify:test`: a test message to each target, what happened to it, and an exit status."""

import json
import os

import pytest

from support.console.in_process import InProcessConsole
from support.logs import log_recorder
from support.receivers.webhooks import SECRET


@pytest.fixture
def targets(mail, hook):
    return f"ops {mail.url} ; hook {hook.origin}/path5ecret secret={SECRET}"


@pytest.fixture(scope="module")
def in_process(make_quick_engine):
    return InProcessConsole(make_quick_engine)


@pytest.fixture
def console(ini, tmp_path, in_process):
    """Run the command; return the exit status, the rows by target, and the messages."""
    settings = {name: value.replace("%", "%%") for name, value in ini.items()}
    path = tmp_path / "frepo.ini"
    path.write_text("[app:main]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items()))

    def run(*arguments, **environment):
        variables = {"PATH": os.environ["PATH"], "FREPO_INI": str(path), **log_recorder.environment()} | environment
        done = in_process.run(["notify:test", "-f", "json", *arguments], env=variables, cwd=tmp_path)
        log_recorder.record_output(done.stderr)
        rows = {row["Target"]: (row["Sent"], row["Problem"]) for row in json.loads(done.stdout or "[]")}
        return done.returncode, rows, done.stderr

    return run


@pytest.mark.costly
def test_each_target_gets_a_message(console, mail, hook):
    assert (0, {"ops": ("yes", ""), "hook": ("yes", "")}, "") == console()

    assert ["[backup1] Test"] == [found["Subject"] for found in mail.mails]
    ((message_id, message),) = hook.received
    assert message_id.startswith("test-")
    assert "notify.test" == message["type"]


def test_a_target_that_fails_is_named_with_its_problem(console, hook, mail):
    hook.status = 503

    status, rows, _ = console()

    assert 1 == status
    assert {"ops": ("yes", ""), "hook": ("no", "The receiver answered with status 503")} == rows


def test_the_heartbeat_is_tried_too(console, hook):
    status, rows, _ = console("heartbeat", NOTIFY_HEARTBEAT=f"{hook.origin}/ping5ecret")

    assert (0, {"heartbeat": ("yes", "")}, ["/ping5ecret"]) == (status, rows, hook.seen)


def test_only_the_named_targets_are_tried(console, mail, hook):
    assert {"ops"} == console("ops")[1].keys()
    assert [] == hook.received


@pytest.mark.parametrize(
    ("arguments", "targets", "message"),
    [
        (["nobody"], "ops ntfy://a", "There is no target 'nobody'. Targets: ops"),
        ([], "", "No target is set. Set notify.targets (NOTIFY_TARGETS)"),
    ],
)
def test_a_wrong_call_is_explained(console, arguments, message):
    status, _, errors = console(*arguments)

    assert 1 == status
    assert message in errors


def test_a_plugin_that_is_switched_off_is_explained(console):
    status, _, errors = console(PLUGINS_DISABLED="notify")

    assert 1 == status
    assert "The plug-in 'notify' is switched off" in errors
