"""The help of the client fits a screen, and its manual page says the same."""

import importlib.util

import pytest

from frepo_client.cli import main, make_parser
from support.paths import ROOT

COMMANDS = ["enroll", "run", "pipe", "push", "restore", "pull", "verify"]
COMMANDS += ["check", "schedule", "spool", "status", "token", "wal"]


def test_help_fits_a_screen(monkeypatch, capsys):
    for words in [[], *([command] for command in COMMANDS)]:
        monkeypatch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit):
            main([*words, "--help"])

        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        if not words:
            assert COMMANDS == [line.split()[0] for line in lines[lines.index("commands:") + 1 :]]


def test_every_argument_has_a_sentence():
    commands = make_parser()._subparsers._group_actions[0].choices
    assert COMMANDS == list(commands)
    assert [] == [(name, action.dest) for name, one in commands.items() for action in one._actions if not action.help]


def test_the_manual_page_is_current():
    spec = importlib.util.spec_from_file_location("manual", ROOT / "docs/generate_client_manual.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    shown = (ROOT / "docs/frepo-client.1").read_text()
    assert generator.page() == shown, "run .venv/bin/python docs/generate_client_manual.py"
