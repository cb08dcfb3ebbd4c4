"""A shell that keeps its variables from one block of a documentation page to the next."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# A comment before a block states where to run it; a `text` block after it shows some lines of the output.
BLOCK = re.compile(r"^(?:<!-- ([^\n]+) -->\n)?```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "end-of-block"


@dataclass(frozen=True, kw_only=True)
class Block:
    """Commands of a page, the place to run them, and lines of their output."""

    code: str
    place: str
    printed: tuple[str, ...]


def blocks(page: str, title: str) -> list[Block]:
    """Return the commands of the section with this title, in order."""
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found: list[Block] = []
    end = 0
    for match in BLOCK.finditer(section):
        place, language, code = match[1] or "", match[2], match[3]
        if language == "sh":
            found.append(Block(code=code, place=place, printed=()))
        elif not section[end : match.start()].strip():
            shown = tuple(code.splitlines())
            found[-1] = Block(code=found[-1].code, place=found[-1].place, printed=shown)
        end = match.end()
    return found


class Terminal:
    """One bash in a folder; each block must succeed."""

    def __init__(self, folder: Path, environment: dict[str, str], inside: Sequence[str] = ()) -> None:
        """Start it; `inside` are words that let a command run elsewhere."""
        self._bash = subprocess.Popen(
            [*inside, "bash", "-euo", "pipefail"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, code: str) -> str:
        """Run the commands; return their output. Raises AssertionError if one of them fails."""
        assert self._bash.stdin is not None and self._bash.stdout is not None
        # The group's input is empty; otherwise a program in it would read the next block.
        self._bash.stdin.write(f"{{\n{code}\n}} < /dev/null\necho; echo {END}\n")
        self._bash.stdin.flush()
        lines: list[str] = []
        for line in self._bash.stdout:
            if line.strip() == END:
                return "".join(lines)
            lines.append(line)
        raise AssertionError(f"{code}\nprinted:\n{''.join(lines)}")

    def close(self) -> None:
        """End the shell."""
        assert self._bash.stdin is not None and self._bash.stdout is not None
        self._bash.stdin.close()
        self._bash.stdout.close()
        self._bash.wait(60)
