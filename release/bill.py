"""The SBOM: what the Debian package and the image contain, in the format of CycloneDX."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .debian import HOME
from .sources import Sources


def write(sources: Sources, target: Path) -> None:
    """Write the SBOM of the environment that the Debian package has; it is built before."""
    python = sources.folder.with_name("debian") / HOME / "bin/python3"
    program = Path(sys.executable).with_name("cyclonedx-py")
    if not program.exists():
        sys.exit("cyclonedx-py writes the SBOM, and it is not installed: make .venv-release/installed")
    if not python.exists():
        sys.exit("The SBOM names what the Debian package has: build the part `debian`, too")
    options = ["--output-reproducible", "--output-format=JSON", "--validate"]
    output = target / f"frepo-{sources.version}.cdx.json"
    subprocess.run(
        [program, "environment", *options, "--output-file", output, python], env=sources.environment, check=True
    )
    bill = complete(json.loads(output.read_text()), sources)
    output.write_text(json.dumps(bill, indent=2, ensure_ascii=False) + "\n")


def complete(bill: dict[str, Any], sources: Sources) -> dict[str, Any]:
    """Name `frepo` as the subject of an SBOM, and add the libraries that lie in the distributions themselves."""
    (subject,) = (one for one in bill["components"] if one["name"] == "frepo")
    components = [one for one in bill["components"] if one is not subject]
    requires = {one["ref"]: set(one.get("dependsOn", ())) for one in bill["dependencies"]}
    for owner, library in included(sources):
        if library["bom-ref"] not in requires:
            components.append(library)
        requires.setdefault(library["bom-ref"], set())
        requires[f"{owner}=={sources.version}"].add(library["bom-ref"])
    # The package has all distributions, also those that none of the others requires.
    requires[subject["bom-ref"]] |= {one["bom-ref"] for one in components if one["name"].startswith("frepo-")}
    return {
        **bill,
        "metadata": {**bill["metadata"], "component": {**subject, "type": "application"}},
        "components": components,
        "dependencies": [_dependency(ref, names) for ref, names in sorted(requires.items())],
    }


def included(sources: Sources) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of a distribution and a library of npm or PyPI of which it has a copy."""
    for folder in sources.distributions:
        owner = folder.name.replace("_", "-")
        for record in sorted(folder.rglob("vendored.json")):
            for one in json.loads(record.read_text()):
                yield owner, _library("npm", one["package"], one["version"], one["licence"])
        for path in sorted(folder.glob("src/*/third_party/*/__init__.py")):
            text = path.read_text()
            (version,) = re.findall(r'(?m)^__version__ = "(.+?)"', text)
            (licence,) = re.findall(r"(?m)^# SPDX-License-Identifier: (\S+)$", text)
            yield owner, _library("pypi", path.parent.name, version, licence)


def _library(registry: str, name: str, version: str, licence: str) -> dict[str, Any]:
    purl = f"pkg:{registry}/{quote(name)}@{version}"
    return {
        "bom-ref": purl,
        "licenses": [{"license": {"id": licence}}],
        "name": name,
        "purl": purl,
        "type": "library",
        "version": version,
    }


def _dependency(ref: str, names: set[str]) -> dict[str, Any]:
    return {"dependsOn": sorted(names), "ref": ref} if names else {"ref": ref}
