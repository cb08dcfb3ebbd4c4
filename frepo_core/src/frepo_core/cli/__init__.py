"""The command `frepo`: cliff commands over the services of the web. A plug-in's commands inherit `FrepoCommand`."""

import atexit
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from frepo_core import gc_pause

from .output_encoding import accept_all_characters

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services

    from .base import FrepoCommand

__all__ = ["FrepoCommand", "main"]


def main(argv: list[str] | None = None) -> int:
    """Run the command; the entry point of the script `frepo`. The help needs none of the modules of commands."""
    arguments = sys.argv[1:] if argv is None else argv
    accept_all_characters(sys.stdout)
    gc_pause.pause()  # until the services are built; most commands import modules for most of their time
    atexit.register(gc_pause.skip_at_exit)
    if arguments in ([], ["-h"], ["--help"], ["help", "--all"]):
        from .help import print_help

        return print_help(is_whole=bool(arguments))
    from .app import main as run

    return run(arguments, _assemble)


def _assemble(settings: Mapping[str, str]) -> "Services":
    """Return the services with all features. Only the main of the command knows these; no command does."""
    from frepo_core.features.assembly import assemble

    return assemble(settings)


def __getattr__(name: str) -> Any:
    """Import `FrepoCommand` when it is used, because it imports cliff."""
    if name == "FrepoCommand":
        from .base import FrepoCommand

        return FrepoCommand
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
