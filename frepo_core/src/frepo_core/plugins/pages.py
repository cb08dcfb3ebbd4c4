"""The pages contract: static files that the service serves below a path."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PATH = re.compile("[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True, kw_only=True)
class MenuEntry:
    """An entry in the menu of the web console: its text, and a path relative to the path of the pages."""

    title: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Pages:
    """Static files.

    - `path`: the first part of their URLs: `console` for `/console/`.
    - `folder`: the folder of the files. `index.html` is served for the folder itself.
    - `title`: the name for people.
    - `menu`: entries in the menu of the web console.

    Anybody can fetch the files without a token. They are served with a strict Content-Security-Policy: scripts,
    styles, images and requests from this service only, nothing inline.
    """

    path: str
    folder: Path
    title: str
    menu: Sequence[MenuEntry] = ()

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `ValueError`."""
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"path is {self.path!r}; write one part of a URL: small letters, digits, '-' and '_'")
        if not Path(self.folder).is_dir():
            raise ValueError(f"folder is {str(self.folder)!r}, which does not exist or is not a folder")
