"""The two libraries of the extra `compact`, and the error if they are missing: call `require_libraries` before use."""

import sys

from frepo_core.errors import ConfigurationError

__all__ = ["FastCDC", "require_libraries", "zstd"]

_MISSING = ""
try:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    from pyfastcdc import FastCDC
except ImportError as error:
    _MISSING = error.name or str(error)


def require_libraries() -> None:
    """Raise `ConfigurationError` if the extra `compact` is not installed."""
    if _MISSING:
        raise ConfigurationError(
            f"Contents that are stored compressed need the package {_MISSING!r}, which is not installed. "
            "Install it: pip install 'frepo-core[compact]'"
        )
