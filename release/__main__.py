"""Builds the release of the commit that is checked out: `python -m release TARGET [PART ...]`."""

import argparse
import os
import shutil
import tempfile
from pathlib import Path

from . import bill, checksums, client, debian, distributions, fitness, pinned, wheelhouse
from .publication import Publication
from .sources import UMASK, Sources

PARTS = {
    "wheels": distributions.build_all,
    "client": client.build,
    "debian": debian.build,
    "sbom": bill.write,
    "archives": wheelhouse.build,
}


def main() -> None:
    """Build the parts, and the checksums of all files of the target."""
    options, publication = parsed()
    target = options.target.absolute()
    os.umask(UMASK)  # the rights of files must not depend on the shell that builds them
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="frepo-release-") as folder:
        sources = Sources.of_the_commit(Path(folder) / "source", publication)
        if options.pin:
            pinned.choose(sources, target)
            return
        for name in options.parts:
            print(f"Building {name}", flush=True)
            PARTS[name](sources, target)
        is_complete = PARTS.keys() <= set(options.parts)
        reasons = [*fitness.reasons_against(sources, is_complete=is_complete, is_signed=bool(options.sign_key))]
    checksums.write(target)
    if options.sign_key:
        checksums.sign(target, options.sign_key)
    for path in sorted(target.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    if reasons:
        print("This is not fit to be published:", *reasons, sep="\n- ")


def parsed() -> tuple[argparse.Namespace, Publication]:
    """Return the options, and what is known of the publication. Ends the program if they are wrong."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__)
    parser.add_argument("target", type=Path, help="the folder for the files of the release; what it holds is deleted")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--pin", action="store_true", help="choose the versions of release/pinned.txt anew instead")
    parser.add_argument("--repository-url", default="", metavar="URL", help="where the sources are published")
    parser.add_argument("--maintainer", default="", metavar="'NAME <ADDRESS>'", help="who publishes the release")
    parser.add_argument("--sign-key", default="", metavar="KEY", help="sign the checksums with this key of gpg")
    options = parser.parse_args()
    options.parts = options.parts or [*PARTS]
    if unknown := set(options.parts) - PARTS.keys():
        parser.error(f"{min(unknown)} is not a part of a release; its parts are {', '.join(PARTS)}")
    if options.sign_key and not checksums.has_key(options.sign_key):
        parser.error(f"gpg is missing or has no key {options.sign_key!r}; `gpg --list-secret-keys` lists its keys")
    try:
        return options, Publication(repository=options.repository_url, maintainer=options.maintainer)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
