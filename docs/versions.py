"""Put the built pages of this version into the site, next to those of other versions.

The site has a folder for each version, the list from which its pages offer the others, and a front page that goes to
the newest. Versions are named by their first two numbers: a correction replaces the pages of what it corrects.
"""

import configparser
import json
import re
import shutil
import sys
from pathlib import Path

VERSION = re.compile(r"\d+\.\d+")
ROOT = Path(__file__).parents[1]
FRONT = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>frepo</title><meta http-equiv="refresh" content="0; url={version}/"></head>
<body><a href="{version}/">The documentation of frepo {version}</a></body>
</html>
"""


def own_number() -> str:
    """Return the number of the version in this folder, for example 0.2.0."""
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    return setup["metadata"]["version"]


def add(pages: Path, site: Path, number: str) -> None:
    """Move the folder of pages into the site as this version; those of other versions stay."""
    version = ".".join(number.split(".")[:2])
    shutil.rmtree(site / version, ignore_errors=True)
    site.mkdir(parents=True, exist_ok=True)
    shutil.move(pages, site / version)
    named = [path.name for path in site.iterdir() if path.is_dir() and VERSION.fullmatch(path.name)]
    newest_first = sorted(named, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in newest_first]
    listed[0]["aliases"] = ["latest"]
    (site / "versions.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")
    (site / "index.html").write_text(FRONT.format(version=newest_first[0]), encoding="utf-8")


if __name__ == "__main__":
    add(Path(sys.argv[1]), Path(sys.argv[2]), own_number())
