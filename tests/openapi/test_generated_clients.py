"""Clients that openapi-generator generates from the document compile and work with a real service.

Each takes ten seconds of a processor: the short form has Python for `/api/v1`, which new clients use.
"""

import json
import os
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

from support.paths import ROOT
from support.scale import only_in_long_form

# Each run of Java takes seconds: one compiler and one collector need half the time of the defaults.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
PROGRAMS = Path(__file__).parent / "clients"
V1_DOCUMENT = "/api/v1/openapi.json"
TOOLS = ROOT / ".venv-clients"
TSC = TOOLS / "typescript/node_modules/typescript/bin/tsc"
COMPILER_OPTIONS = {
    "target": "es2022",
    "module": "nodenext",
    "strict": True,
    "skipLibCheck": True,  # the declarations of TypeScript and Node.js are not under test
    "lib": ["es2022", "dom"],
    "types": ["node"],
    "typeRoots": [str(TOOLS / "typescript/node_modules/@types")],
    "outDir": "made",
}

pytestmark = pytest.mark.skipif(
    not (TOOLS / "installed").exists(), reason="openapi-generator is not installed: make services"
)


def run(*command: object, folder: Path, **environment: str) -> str:
    """Run a tool of the separate environment; return its output."""
    variables = {"PATH": f"{TOOLS / 'bin'}:{os.environ['PATH']}", "HOME": str(folder), **environment}
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-5000:]}{done.stderr[-5000:]}"
    return done.stdout


@pytest.fixture
def generate(service, tmp_path):
    """Generate a client from a document of the service: `generate("python", "client", "packageName=name")`."""

    def generate(language: str, folder: str, properties: str, document: str = "/api/doc.json") -> None:
        urllib.request.urlretrieve(f"{service.url}{document}", tmp_path / "document.json")
        arguments = ["generate", "-g", language, "-i", "document.json", "-o", folder]
        run(
            TOOLS / "bin/openapi-generator-cli",
            *arguments,
            f"--additional-properties={properties}",
            folder=tmp_path,
            JAVA_TOOL_OPTIONS=JAVA_OPTIONS,
        )

    return generate


def compile_typescript(program: str, folder: Path) -> None:
    """Compile a program with the generated client next to it."""
    shutil.copy(PROGRAMS / program, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    settings = {"compilerOptions": COMPILER_OPTIONS, "include": [program, "client"]}
    (folder / "tsconfig.json").write_text(json.dumps(settings))
    run(TOOLS / "bin/node", TSC, "-p", ".", folder=folder)


def expected(name: str) -> dict[str, object]:
    return {
        "uploaded": "OK",
        "listed": [name],
        "downloaded": "hello from a generated client\n",
        "limit": 4_000_000_000,
        "version": 1,
        "fetched": "hello from a generated client\n",
        "refused": 403,
        "null": None,
    }


def without_digits(answer: dict[str, list[str]]) -> dict[str, object]:
    """Remove the hash digits at the start of a stored name."""
    return answer | {"listed": [name[10:] for name in answer["listed"]]}


@only_in_long_form
def test_a_python_client_compiles_and_works(generate, service, tmp_path):
    generate("python", "client", "packageName=frepo_generated")
    run(TOOLS / "bin/python", "-m", "compileall", "-q", "client/frepo_generated", folder=tmp_path)

    printed = run(
        TOOLS / "bin/python",
        PROGRAMS / "use_client.py",
        service.url,
        service.admin,
        folder=tmp_path,
        PYTHONPATH=str(tmp_path / "client"),
    )

    assert expected("python.txt") == without_digits(json.loads(printed))


@only_in_long_form
def test_a_typescript_client_compiles_and_works(generate, service, tmp_path):
    generate("typescript-fetch", "client", "importFileExtension=.js")
    compile_typescript("use_client.ts", tmp_path)

    printed = run(TOOLS / "bin/node", "made/use_client.js", service.url, service.admin, folder=tmp_path)

    assert expected("typescript.txt") == without_digits(json.loads(printed))


def expected_of_v1(name: str) -> dict[str, object]:
    return {
        "description": "edited",
        "versions": 3,
        "number": 1,
        "listed": [1],
        "downloaded": "hello from a generated client\n",
        "file": name,
        "refused": 403,
    }


@pytest.mark.costly
def test_a_python_client_of_v1_compiles_and_works(generate, service, tmp_path):
    generate("python", "client", "packageName=frepo_generated", V1_DOCUMENT)
    run(TOOLS / "bin/python", "-m", "compileall", "-q", "client/frepo_generated", folder=tmp_path)

    arguments = (PROGRAMS / "use_v1_client.py", service.url, service.admin)
    printed = run(TOOLS / "bin/python", *arguments, folder=tmp_path, PYTHONPATH=str(tmp_path / "client"))

    assert expected_of_v1("python.txt") == json.loads(printed)


@only_in_long_form
def test_a_typescript_client_of_v1_compiles_and_works(generate, service, tmp_path):
    generate("typescript-fetch", "client", "importFileExtension=.js", V1_DOCUMENT)
    compile_typescript("use_v1_client.ts", tmp_path)

    printed = run(TOOLS / "bin/node", "made/use_v1_client.js", service.url, service.admin, folder=tmp_path)

    assert expected_of_v1("typescript.txt") == json.loads(printed)
