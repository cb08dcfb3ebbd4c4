"""The path below which a proxy shows the service, such as `/frepo`."""

import re

_PATH = re.compile(r"(?:/(?!\.+(?:/|$))[\w.-]+)+", re.ASCII)


def parse_base_path(text: str) -> str:
    """Return the path without a slash at its end; that of the root is empty. Raises `ValueError`."""
    path = text.removesuffix("/")
    if path and not _PATH.fullmatch(path):
        raise ValueError("write a path of letters, digits, dots, dashes and underscores, such as /frepo")
    return path
