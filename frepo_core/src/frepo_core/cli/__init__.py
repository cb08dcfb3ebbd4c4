"""The command `frepo`: cliff commands over the services of the web. A plug-in's commands inherit `FrepoCommand`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import FrepoCommand

__all__ = ["FrepoCommand"]


def __getattr__(name: str) -> Any:
    """Import `FrepoCommand` when it is used, because it imports cliff."""
    if name == "FrepoCommand":
        from .base import FrepoCommand

        return FrepoCommand
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
