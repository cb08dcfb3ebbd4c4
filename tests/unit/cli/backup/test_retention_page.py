"""The commands of docs/retention.md run and print what the page shows."""

import re
import shlex

from support.paths import ROOT

PAGE = (ROOT / "docs/retention.md").read_text()
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def test_the_page_shows_what_its_commands_print(console):
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (create, _), *others = COMMAND.findall("".join(block for block in blocks if "COLLECTION" in block))
    collection = console.answer(*shlex.split(create.removeprefix("COLLECTION=$(frepo ").removesuffix(")"))).strip()

    shown = {command: expected.rstrip() for command, expected in others}
    printed = {
        command: console.answer(*shlex.split(command.replace("$COLLECTION", collection))[1:]) for command in shown
    }

    assert len(shown) == 5
    assert printed == shown
