"""Runs commands of `frepo` in the process of a test, over the services that run there."""

import configparser
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from frepo_core.cli.app import FrepoApp
from frepo_core.services.composition.container import Services


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """What a command did: its exit status (0 or 1), and what it wrote to stdout (`output`) and stderr (`errors`)."""

    status: int
    output: str
    errors: str


class _TestConsole(FrepoApp):
    """`frepo` with its output in memory."""

    def __init__(self, services: Services) -> None:
        super().__init__(services=services)
        self.stdout = self.output = io.StringIO()
        self.stderr = self.errors = io.StringIO()

    def configure_logging(self) -> None:
        """Leave the log to pytest."""


def run_command(services: Services, ini: Path, arguments: tuple[str, ...]) -> CommandResult:
    """Run a command with the settings of an ini file and the data of the services."""
    console = _TestConsole(services)
    status = console.run(["--ini", str(ini), *arguments])
    return CommandResult(status=status, output=console.output.getvalue(), errors=console.errors.getvalue())


def write_ini(path: Path, settings: Mapping[str, str]) -> None:
    """Write an ini file with these settings."""
    parser = configparser.RawConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser["app:main"] = {"use": "egg:frepo-core"} | {name: text.replace("%", "%%") for name, text in settings.items()}
    with path.open("w", encoding="utf-8") as file:
        parser.write(file)
