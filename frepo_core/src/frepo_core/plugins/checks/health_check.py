"""The health check contract: a named function, run in a thread of its own, with a deadline."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..settings import require_callable

DEADLINE = 5.0


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    """A check that `/health` runs.

    - `name`: unique among all health checks.
    - `run`: called as `run()`, or as `run(context)` if it has a parameter. It raises if something does not work.
    - `deadline`: in seconds. A check that takes longer is reported as hanging. It is not started again before it has
      returned.
    """

    name: str
    run: Callable[..., Any]
    deadline: float = DEADLINE

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `TypeError` or `ValueError`."""
        require_callable("run", self.run)
        if not self.deadline > 0:
            raise ValueError(f"deadline is {self.deadline!r}; write seconds above 0")
