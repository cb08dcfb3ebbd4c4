"""The script `frepo`: starts the command over the services with all features."""

import atexit
import sys

from frepo_core import assemble, gc_pause
from frepo_core.cli.output_encoding import accept_all_characters


def main(argv: list[str] | None = None) -> int:
    """Run the command; the entry point of the script `frepo`. The help needs none of the modules of commands."""
    arguments = sys.argv[1:] if argv is None else argv
    accept_all_characters(sys.stdout)
    gc_pause.pause()  # until the services are built; most commands import modules for most of their time
    atexit.register(gc_pause.skip_at_exit)
    if arguments in ([], ["-h"], ["--help"], ["help", "--all"]):
        from frepo_core.cli.help import print_help

        return print_help(is_whole=bool(arguments))
    from frepo_core.cli.app import main as run

    return run(arguments, assemble)
