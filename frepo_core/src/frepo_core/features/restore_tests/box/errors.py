"""Why there is no box."""

from frepo_core.errors import FrepoError


class NoSandboxError(FrepoError):
    """There is no box here. The text says what gives one."""
