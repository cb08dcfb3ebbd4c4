"""Fills an empty service with realistic data: `make demo`, or `PYTHONPATH=tools python -m demo`."""

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from frepo_core import assemble
from frepo_core.cli import FrepoCommand
from frepo_core.cli.app import FrepoApp
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FieldsError

from .fill import fill

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

MOST = 10_000
_NAME = "demo:fill"


class DemoFill(FrepoCommand):
    """Fill an empty service with collections, files, tokens and a year of history, to look at.

    Takes half a minute for a hundred collections. All states occur, and one version is damaged on purpose. Refuses a
    service that has collections or files. The ids of the tokens are random and shown nowhere.
    """

    examples = ("python -m demo", "python -m demo --collections 1000 --seed 7")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the options."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--collections", type=int, default=100, metavar="N", help="how many; default: 100")
        parser.add_argument(
            "--seed", type=int, default=1, metavar="N", help="the same seed gives the same data; default: 1"
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Fill the service and print what it has then."""
        if not 1 <= arguments.collections <= MOST:
            raise FieldsError({"--collections": [f"must be from 1 to {MOST}, not {arguments.collections}"]})
        services = self.services()
        done = fill(services, collections=arguments.collections, seed=arguments.seed, progress=_progress_on(sys.stderr))
        self.say(
            f"The service has {done.collections} collections with {done.versions} versions, {done.files} files, "
            f"{done.tokens} tokens and {done.events} events; {readable_size(done.size)} are stored"
        )
        for line in _staged(services):
            self.say(line)


def _staged(services: "Services") -> Iterator[str]:
    """Yield which problems belong to the demonstration, by state."""
    from frepo_core.services.backups.collections.states import NOT_WELL

    names: dict[str, list[str]] = {}
    for collection, found in services.collection_states.in_states(NOT_WELL, MOST):
        names.setdefault(found.state.value, []).append(collection.filename)
    if names:
        yield "These problems are staged, so that there is something to see; any other warning is real:"
    for state, which in names.items():
        yield f"  {state}: {', '.join(which)}"


def _progress_on(stream: TextIO) -> Callable[[int, int], None] | None:
    """Return a function that shows the percentage on a terminal, None if the stream is not one."""
    if not stream.isatty():
        return None

    def show(done: int, total: int) -> None:
        if done * 100 // total > (done - 1) * 100 // total:
            stream.write(f"\rFilling the service: {done * 100 // total} %" + ("\n" if done == total else ""))
            stream.flush()

    return show


def main(arguments: list[str]) -> int:
    """Run it as a command of `frepo`, with its settings, its messages and its exit status."""
    app = FrepoApp(assemble)
    app.command_manager.add_command(_NAME, DemoFill)
    return app.run([_NAME, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
