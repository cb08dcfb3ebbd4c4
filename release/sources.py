"""The sources of a release: the files of one commit, as git has them."""

import configparser
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .publication import UNKNOWN, Publication

ROOT = Path(__file__).parents[1]
META = ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "development.ini", "production.ini")
UMASK = 0o022


@dataclass(frozen=True, kw_only=True)
class Sources:
    """A copy of the sources below `folder`; `epoch` is the time of all files, in seconds since 1970."""

    folder: Path
    epoch: int
    publication: Publication = UNKNOWN

    @classmethod
    def of_the_commit(cls, folder: Path, publication: Publication) -> "Sources":
        """Copy the files of the commit that is checked out. Changes that are not committed are not part of it.

        What is known of the publication is written into the copy.
        """
        archive = subprocess.run(
            ["git", "-c", "tar.umask=0022", "archive", "--format=tar", "HEAD"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout
        folder.mkdir()
        # Not by tarfile: it needs a filter, which Python 3.11.2 of Debian 12 does not have.
        subprocess.run(["tar", "--extract", "--no-same-owner", "--directory", folder], input=archive, check=True)
        sources = cls(folder=folder, epoch=int(_git("log", "-1", "--format=%ct")), publication=publication)
        publication.write(folder, sources.tag)
        return sources

    @property
    def version(self) -> str:
        """The version of all distributions."""
        setup = configparser.ConfigParser(interpolation=None)
        setup.read(self.folder / "setup.cfg")
        return setup["metadata"]["version"]

    @property
    def tag(self) -> str:
        """The name of the tag of this version."""
        return f"v{self.version}"

    @property
    def is_tagged(self) -> bool:
        """Whether the commit that is checked out has this tag."""
        return self.tag in _git("tag", "--points-at", "HEAD").split()

    @property
    def distributions(self) -> list[Path]:
        """The folders of the distributions, except the meta-distribution `frepo`."""
        return [path.parent for path in sorted(self.folder.glob("frepo_*/pyproject.toml"))]

    @property
    def environment(self) -> dict[str, str]:
        """The variables of programs that build."""
        return os.environ | {
            "SOURCE_DATE_EPOCH": str(self.epoch),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",  # a package that is built here must not get what its build has compiled
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
