"""Builds the release of the commit that is checked out: `python -m release TARGET [PART ...]`."""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from . import bill, checksums, client, debian, distributions, pinned
from .sources import UMASK, Sources

PARTS = {
    "wheels": distributions.build_all,
    "client": client.build,
    "debian": debian.build,
    "sbom": bill.write,
}


def main() -> None:
    """Build the parts, and the checksums of all files of the target."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("target", type=Path, help="the folder for the files of the release; what it holds is deleted")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--pin", action="store_true", help="choose the versions of release/pinned.txt anew instead")
    options = parser.parse_args()
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"{min(unknown)} is not a part of a release; its parts are {', '.join(PARTS)}")
    target = options.target.absolute()
    os.umask(UMASK)  # the rights of files must not depend on the shell that builds them
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="frepo-release-") as folder:
        sources = Sources.of_the_commit(Path(folder) / "source")
        if options.pin:
            pinned.choose(sources, target)
            return
        for name in options.parts or PARTS:
            print(f"Building {name}", flush=True)
            PARTS[name](sources, target)
    checksums.write(target)
    for path in sorted(target.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")


if __name__ == "__main__":
    main()
