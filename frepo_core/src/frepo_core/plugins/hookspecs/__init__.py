"""The hooks of frepo. docs/hooks.md is generated from this package.

A parameter `context` may be left out of an implementation; frepo passes only what it declares.
"""

from .operation import *  # noqa: F403  # each function there is a hook
from .parts import *  # noqa: F403
from .restoring import *  # noqa: F403
from .serving import *  # noqa: F403
from .store import *  # noqa: F403
from .uploads import *  # noqa: F403
