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
FORWARD = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>frepo</title><meta http-equiv="refresh" content="0; url={target}"></head>
<body><a href="{target}">{text}</a></body>
</html>
"""
# Pages that had another name: an address that somebody has kept leads on.
FORMER = {"console.html": "commands.html"}


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
    for former, target in FORMER.items():
        page = FORWARD.format(target=target, text=f"This page is {target} now")
        (site / version / former).write_text(page, encoding="utf-8")
    named = [path.name for path in site.iterdir() if path.is_dir() and VERSION.fullmatch(path.name)]
    newest_first = sorted(named, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in newest_first]
    listed[0]["aliases"] = ["latest"]
    (site / "versions.json").write_text(json.dumps(listed, indent=1), encoding="utf-8")
    newest = newest_first[0]
    front = FORWARD.format(target=f"{newest}/", text=f"The documentation of frepo {newest}")
    (site / "index.html").write_text(front, encoding="utf-8")


if __name__ == "__main__":
    add(Path(sys.argv[1]), Path(sys.argv[2]), own_number())
