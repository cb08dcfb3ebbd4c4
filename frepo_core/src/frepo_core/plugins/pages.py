"""The pages contract: static files that the service serves below a path."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_PATH = re.compile("[a-z0-9][a-z0-9_-]*")
_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
# Nothing inline, no `eval`, and nothing from other sites.
_SOURCES = {"'self'", "'none'", "blob:", "data:"}

# The path of the web console.
CONSOLE = "ui"


@dataclass(frozen=True, kw_only=True)
class MenuEntry:
    """An entry in the menu of the web console: its text, and a path relative to the path of the pages."""

    title: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Pages:
    """Static files.

    - `path`: the first part of their URLs: `console` for `/console/`. At `ui`, `GET /` redirects browsers there.
    - `folder`: the folder of the files. `index.html` is served for the folder itself.
    - `title`: the name for people.
    - `menu`: entries in the menu of the web console.
    - `policy`: the Content-Security-Policy. It may only name the sources 'self', 'none', blob: and data:.
    - `is_versioned`: the files are served below `/<path>/<digest>/`, where browsers may keep them for ever: the digest
      is that of all files. `/<path>/` answers `index.html` with `{digest}` replaced, and `{style console.css}` by a
      `<style>` element with that file, which the policy then allows: a browser shows the page before anything else
      has arrived. A file that lies next to its compressed form `<name>.gz` is sent compressed.

    Anybody can fetch the files without a token. By default scripts, styles, images and requests are allowed from this
    service only, nothing inline.
    """

    path: str
    folder: Path
    title: str
    menu: Sequence[MenuEntry] = ()
    policy: str = _POLICY
    is_versioned: bool = False

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `ValueError`."""
        if not _PATH.fullmatch(self.path):
            raise ValueError(f"path is {self.path!r}; write one part of a URL: small letters, digits, '-' and '_'")
        if not Path(self.folder).is_dir():
            raise ValueError(f"folder is {str(self.folder)!r}, which does not exist or is not a folder")
        if self.is_versioned and not (Path(self.folder) / "index.html").is_file():
            raise ValueError(f"folder is {str(self.folder)!r}, which has no index.html; versioned pages need one")
        sources = {source for directive in self.policy.split(";") for source in directive.split()[1:]}
        if forbidden := sources - _SOURCES:
            raise ValueError(f"policy allows {min(forbidden)}; the allowed sources are {', '.join(sorted(_SOURCES))}")
