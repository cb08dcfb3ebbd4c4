import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from frepo_core.web.schemas import json_schemas
from support.scale import IS_BIG

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
# The short form leaves out the phase that follows the links between operations, a quarter of the time. The phases of
# examples and of coverage send each operation valid and invalid requests; random ones follow.
EXAMPLES = os.environ.get("CONTRACT_EXAMPLES", "6")
PHASES = "examples,coverage,fuzzing" + (",stateful" if IS_BIG else "")
EMPTY_COLLECTIONS = ("00000000-0000-4000-8000-00000000c033", "00000000-0000-4000-8000-00000000c044")


def post(service, path: str, body: bytes) -> dict:
    request = urllib.request.Request(f"{service.url}{path}", body, {"X-Auth-Token": service.admin}, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@pytest.fixture
def filled(start_service):
    """A service with the data that the examples of the document and schemathesis.toml name."""
    service = start_service(
        HEALTH_CHECK_CODE="a code for health checks", HTTP_TIMEOUT="1", ADD_BY_URL_ALLOWED_NETWORKS="127.0.0.0/8"
    )
    for token in (json_schemas.A_TOKEN, json_schemas.A_REVOKED_TOKEN):
        post(service, "/auth/token/generate", json.dumps({"roles": ["upload.all"], "id": token}).encode())
    for collection in (json_schemas.A_COLLECTION, *EMPTY_COLLECTIONS):
        form = {"filename": "dump.sql.gz", "id": collection}
        post(service, "/repository/collection", json.dumps(form).encode())
    for number in range(1, 21):
        post(service, f"/repository/collection/{json_schemas.A_COLLECTION}/backup", b"%d" % number)
    for content in (b"hello", b"world"):
        post(service, f"/repository/file/upload?fileName={content.decode()}.txt", content)
    return service


def operations_of(service) -> set[str]:
    with urllib.request.urlopen(f"{service.url}/api/doc.json") as answer:
        paths = json.load(answer)["paths"]
    return {operation["operationId"] for operations in paths.values() for operation in operations.values()}


def succeeded(seen: Path) -> set[str]:
    answers = [json.loads(line) for line in seen.read_text().splitlines()]
    return {answer["operation"] for answer in answers if answer["status"] < 400}


def explore(service, folder: Path) -> tuple[subprocess.CompletedProcess, Path]:
    """Run schemathesis; return its result, and the file with the answers of each operation."""
    seen = folder / "seen.jsonl"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONPATH": str(HERE.parent),
        "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py"),
        "FREPO_TOKEN": service.admin,
        "FREPO_URL": f"{service.url}/repository/file/2cf24dba5fhello.txt",
        "FREPO_SEEN": str(seen),
    }
    command = [BIN / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", "--no-color"]
    # From a file: schemathesis would not test the operation from which it loads the document.
    document = folder / "document.json"
    urllib.request.urlretrieve(f"{service.url}/api/doc.json", document)
    command += ["--phases", PHASES, "--max-examples", EXAMPLES, "--url", service.url, document]
    return subprocess.run(command, env=environment, check=False, cwd=folder, capture_output=True, text=True), seen


@pytest.mark.contract
def test_schemathesis_finds_nothing(filled, tmp_path):
    run, seen = explore(filled, tmp_path)

    assert run.returncode == 0, run.stdout + run.stderr
    assert filled.answers()
    assert operations_of(filled) - succeeded(seen) == set()
