"""The settings of restore tests."""

from datetime import timedelta

from pydantic import BaseModel

from .declaration import setting
from .types import CommandLine, Duration


class RestoreTestSettings(BaseModel):
    """The settings whose names begin with `restore_tests.`."""

    restore_tests_command: CommandLine = setting(
        "restore_tests.command",
        "",
        "The command that tests whether a version can be restored, such as `gunzip -t`; it reads the version from its "
        "stdin. Empty: no nightly restore tests.",
    )
    restore_tests_timeout: Duration = setting(
        "restore_tests.timeout",
        "6h",
        "How long the command of a restore test may run before it is killed.",
        gt=timedelta(),
    )
    restore_tests_window: Duration = setting(
        "restore_tests.window",
        "4h",
        "How long the job `restore_tests` begins tests of further collections. The last test may end later.",
        gt=timedelta(),
    )
    restore_tests_every: Duration = setting(
        "restore_tests.every",
        "30d",
        "A collection whose last good restore test is older is named in the overview, by `frepo status` and in the "
        "daily summary.",
        gt=timedelta(),
    )
