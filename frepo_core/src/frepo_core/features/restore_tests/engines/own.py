"""The list of frepo's own engines."""

from frepo_core.plugins import RestoreEngine

from .command import run_command
from .sqlite import restore_sqlite
from .tar import restore_tar

ENGINES = [
    RestoreEngine(name="sqlite", label="SQLite", restore=restore_sqlite, language="SQL"),
    RestoreEngine(name="tar", label="tar archive", restore=restore_tar, language="files, bytes or newest"),
    RestoreEngine(name="command", label="restore_tests.command, in the box", restore=run_command),
]
