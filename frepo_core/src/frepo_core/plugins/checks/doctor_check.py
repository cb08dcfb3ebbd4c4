"""The contract of a check of `frepo doctor`: what is wrong with an installation, and what to do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ..settings import require_callable

DoctorLevel: TypeAlias = Literal["ok", "warning", "problem"]

DEADLINE = 10.0


@dataclass(frozen=True, kw_only=True)
class DoctorFinding:
    """What a check found. `remedy` says what to do; it may be empty if `level` is `ok`.

    A `problem` must be solved, and ends `frepo doctor` with 1; a `warning` should be looked at.
    """

    level: DoctorLevel
    message: str
    remedy: str = ""

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `ValueError`."""
        if self.level not in get_args(DoctorLevel):
            raise ValueError(f"level is {self.level!r}; write one of {', '.join(get_args(DoctorLevel))}")
        if self.level != "ok" and not self.remedy:
            raise ValueError("remedy is empty; say what to do")


@dataclass(frozen=True, kw_only=True)
class DoctorCheck:
    """A check that `frepo doctor` runs. It must change nothing.

    - `name`: unique among all checks of doctor. It is shown in the column `Check`.
    - `run`: called as `run(context)`, or with `storage` as `run(backend, context)`. It returns or yields what it finds.
      Nothing means that there is nothing to say.
    - `storage`: the name of a storage of the plug-in: the check is run only if that storage is in use, and gets it.
    - `deadline`: in seconds. A check that takes longer is reported.
    """

    name: str
    run: Callable[..., Iterable[DoctorFinding]]
    storage: str | None = None
    deadline: float = DEADLINE

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("run", self.run)
        if not self.deadline > 0:
            raise ValueError(f"deadline is {self.deadline!r}; write seconds above 0")
