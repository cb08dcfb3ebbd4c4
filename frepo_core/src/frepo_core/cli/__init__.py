"""The console: cliff commands over the same services as the web. A plug-in's commands inherit `FrepoCommand`."""

from .base import FrepoCommand

__all__ = ["FrepoCommand"]
