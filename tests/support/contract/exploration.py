"""Runs schemathesis against a service, with a document of the service."""

import json
import os
import subprocess
import sys
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from support.paths import TESTS
from support.scale import IS_ALL, IS_BIG
from support.servers.service import Service

FOLDER = TESTS / "openapi"
# The phases of examples and of coverage send each operation valid requests, and one invalid one for each rule of its
# schema; a part of the latter is sent, and not all of the many valid ones. The long form adds random requests, and
# those that follow the links between operations.
EXAMPLES = os.environ.get("CONTRACT_EXAMPLES", "")
ENOUGH_VALID, ONE_IN_VALID, ONE_IN = ("20", "3", "20") if IS_ALL else ("8", "9", "60")
PHASES = "examples,coverage" + (",fuzzing" if EXAMPLES else "") + (",stateful" if IS_BIG else "")
Existing = dict[str, list[dict[str, str]]]


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """How schemathesis ended, what it printed, and the statuses of each operation, by its name."""

    status: int
    output: str
    answers: dict[str, list[int]] = field(default_factory=dict)

    def without_success(self) -> set[str]:
        """Return the operations that have never succeeded."""
        return {name for name, statuses in self.answers.items() if min(statuses, default=500) >= 400}


def explore(service: Service, path: str, name: str, folder: Path, existing: Existing | None = None) -> Exploration:
    """Run schemathesis on the document at `path`, with the configuration and the hooks of this name.

    `existing` are path parameters of what the test has created, by operation, for its first valid requests.
    """
    document, seen = folder / "document.json", folder / "seen.jsonl"
    # From a file: schemathesis would not test the operation from which it loads the document.
    urllib.request.urlretrieve(f"{service.url}{path}", document)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(TESTS),
        "SCHEMATHESIS_HOOKS": str(FOLDER / f"{name}_hooks.py"),
        "FREPO_TOKEN": service.admin,
        "FREPO_URL": service.url,
        "FREPO_EXISTING": json.dumps(existing or {}),
        "FREPO_SEEN": str(seen),
        "FREPO_ENOUGH_VALID": ENOUGH_VALID,
        "FREPO_ONE_IN_VALID": "1" if EXAMPLES else ONE_IN_VALID,
        "FREPO_ONE_IN": "1" if EXAMPLES else ONE_IN,
    }
    command = [
        Path(sys.executable).parent / "schemathesis",
        "--config-file",
        FOLDER / f"{name}.toml",
        "run",
        "--no-color",
    ]
    command += ["--phases", PHASES, "--max-examples", EXAMPLES or "1", "--url", service.url, document]
    run = subprocess.run(command, env=environment, check=False, cwd=folder, capture_output=True, text=True)
    operations = [one for path in json.loads(document.read_text())["paths"].values() for one in path.values()]
    answers: dict[str, list[int]] = {operation["operationId"]: [] for operation in operations}
    for line in seen.read_text().splitlines() if seen.exists() else ():
        answer = json.loads(line)
        answers[answer["operation"]].append(answer["status"])
    return Exploration(status=run.returncode, output=run.stdout + run.stderr, answers=answers)
