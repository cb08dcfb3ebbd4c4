"""The command that starts the service."""

import argparse
import os
import sys

from frepo_core.errors import ConfigurationError

from ...base import FrepoCommand
from ...ini_check import IniFile
from ...ini_file import check_logging, find_ini, read_ini


class Serve(FrepoCommand):
    """Check the ini file, then serve until SIGTERM or Ctrl-C, as pserve does."""

    examples = ("frepo serve production.ini", "frepo serve --listen 127.0.0.1:7000")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("ini", nargs="?", metavar="INI", help="default: that of `frepo --ini`, see `frepo --help`")
        parser.add_argument(
            "--listen", metavar="ADDRESS", help="e.g. 127.0.0.1:7000; default: HTTP_LISTEN, else that of the ini file"
        )

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Replace this process by the service, which inherits nothing of the command but its environment."""
        if self.app.is_nested:
            raise ConfigurationError("post_install_cmd (POST_INSTALL_CMD) must not run `frepo serve`")
        path = find_ini(arguments.ini or self.app.options.ini)
        read_ini(path, IniFile.check_to_serve)
        check_logging(path)
        variables, environment = [], dict(os.environ)
        if arguments.listen:
            environment.pop("HTTP_LISTEN", None)  # it would win
            variables.append(f"http_listen={arguments.listen}")
        # -P: modules in the current folder are not meant.
        program = [sys.executable, "-P", "-m", "pyramid.scripts.pserve"]
        os.execve(sys.executable, [*program, str(path), *variables], environment)  # noqa: S606  # needs none
