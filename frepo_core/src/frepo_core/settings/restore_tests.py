"""The settings of restore tests."""

from datetime import timedelta

from pydantic import BaseModel

from .declaration import harmless, setting
from .types import CommandLine, Duration, Size, Words


class RestoreTestSettings(BaseModel, defer_build=True):
    """The settings whose names begin with `restore_tests.`."""

    restore_tests_command: CommandLine = setting(
        "restore_tests.command",
        "",
        "The command that tests whether a version can be restored, such as `gunzip -t`; it reads the version from its "
        "stdin. Empty: no nightly restore tests.",
    )
    restore_tests_engines: Words = harmless(
        "restore_tests.engines",
        "",
        "The engines that collections may choose, such as `sqlite, tar, postgresql:15`: they restore in a box.",
    )
    restore_tests_by_label: Words = harmless(
        "restore_tests.by_label",
        "",
        "Labels, each with the engine of the collections that have it and choose none, such as `databases=sqlite`.",
    )
    restore_tests_sandbox: str = harmless(
        "restore_tests.sandbox",
        "bubblewrap",
        "What makes the box: `bubblewrap`, or the socket of the unit frepo-restore, such as /run/frepo-restore.sock.",
        pattern="bubblewrap|/.+",
    )
    restore_tests_memory: Size = setting(
        "restore_tests.memory", "2GiB", "How much memory all processes in a box may take.", ge=1 << 26
    )
    restore_tests_disk: Size = setting(
        "restore_tests.disk", "20GiB", "How many bytes a box may write. Its folder is in `temp_directory`.", ge=1 << 20
    )
    restore_tests_processes: int = setting(
        "restore_tests.processes", 256, "How many processes and threads a box may have.", ge=16
    )
    restore_tests_timeout: Duration = setting(
        "restore_tests.timeout",
        "6h",
        "How long a restore test may take before it is ended.",
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
