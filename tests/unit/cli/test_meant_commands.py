"""A word of another program leads to the command that does what it means."""

import tomllib
from pathlib import Path

from frepo_core.cli import app

ROOT = Path(__file__).parents[3]
OTHERS = {"frepo-client"}


def test_an_unknown_command_says_what_may_be_meant(console):
    for word, said in [
        ("list", "did you mean backup:list or backup:versions or file:list?"),
        ("backup", "did you mean backup:upload or frepo-client push or backup:list?"),
        ("logs", "did you mean events?"),
        ("tokens", "did you mean auth:list?"),
        ("backup:lst", "did you mean backup:list"),
        ("xyzzy", "see `frepo --help`"),
    ]:
        assert f"Unknown command {word!r}, {said}" in console.refusal(word), word


def test_each_command_that_may_be_meant_exists():
    declared = tomllib.loads((ROOT / "frepo_core/pyproject.toml").read_text())
    known = {*declared["project"]["entry-points"]["frepo.commands"], *OTHERS}

    assert {text.split()[0] for meant in app._MEANT.values() for text in meant} <= known
