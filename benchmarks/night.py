"""Measures a night: many clients that send a dump of 20 MB each at the same moment, with all work of the service on.

Half of them are curl, half frepo-client, all with `nice 19`, as if they had processors of their own. What was sent is
checked, judged and copied into a second storage, and the versions of earlier rounds are compacted meanwhile. How long
the service takes to answer others counts, and its memory. `night_costs` measures what one version costs.
"""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from frepo_client.zipapp import build
from support.servers.service import Service

from .harness.client import PersistentConnection
from .harness.measure import Results, Row, Sizes, compare_with_goal
from .harness.world import folder, frepo
from .memory import status
from .night_costs import measure_client, measure_versions

SIZE = 20_000_000
CODE = "a-code"
ROLES = ["collections.upload_to_allowed_collections", "collections.list_versions_for_allowed_collections"]
ANSWER, MEMORY = 0.5, 300 << 20
PATHS = {"/health": f"/health?code={CODE}", "GET /": "/"}
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


def run(results: Results, sizes: Sizes) -> None:
    """Ask the service while all clients send, then measure what one version costs."""
    count = 100 if sizes.full else 10
    with folder() as where:
        work = {
            "STORAGES": "offsite",
            "STORAGE_OFFSITE_ADAPTER": "local",
            "STORAGE_OFFSITE_DIRECTORY": str(where / "offsite"),
            "MIRROR": "offsite",
            "COMPACT": "true",
            "COMPACT_AFTER": "1s",
            "JOBS_COMPACT": "every 1m",
            "HEALTH_CHECK_CODE": CODE,
        }
        with frepo(where / "service", **work) as service:
            clients = Clients(where, service, count)
            runs = 5 if sizes.full else 2
            longest: dict[str, list[float]] = {name: [] for name in PATHS}  # the longest answer of each night, seconds
            for _ in range(runs):
                with ExitStack() as stack:
                    answers = {name: stack.enter_context(_asked(service, path)) for name, path in PATHS.items()}
                    clients.send()
                for name, seconds in answers.items():
                    longest[name].append(max(seconds))
            peak = status(service.pid)["VmHWM"]
            clients.require_verdicts()
    for name, seconds in longest.items():
        what = f"longest answer of {name} while {count} clients with nice 19 send : {ANSWER} s"
        results.add(compare_with_goal("night", what, seconds, ANSWER))
    text = f"memory of the service in a night : {MEMORY >> 20} MiB"
    results.add(Row(group="night", name=text, ours=[peak], theirs=[MEMORY], unit="B", ratio=peak / MEMORY, reach=1.0))
    measure_versions(results, sizes)
    measure_client(results, PYTHON)


class Clients:
    """The machines that are backed up: a dump, a collection, a token of its own and a configuration for each.

    With one token for all, only `uploads.max_open` of them could send in parts at the same time.
    """

    def __init__(self, where: Path, service: Service, count: int) -> None:
        self._where, self._service = where, service
        self._turns = itertools.count()
        self._program = where / "frepo-client.pyz"
        self._program.write_bytes(build())
        self._asking = PersistentConnection(service.address, {"Authorization": f"Bearer {service.admin}"})
        rows = (f"INSERT INTO `orders` VALUES ({number},'{os.urandom(40).hex()}');\n" for number in itertools.count())
        self._base = "".join(itertools.islice(rows, SIZE // 110)).encode()
        self._collections = [self._make(number) for number in range(count)]

    def _make(self, number: int) -> str:
        body = json.dumps({"name": f"host-{number}.sql"}).encode()
        collection: str = json.loads(self._ask("POST", "/api/v1/collections", body))["id"]
        home = self._where / f"host-{number}"
        (home / ".config").mkdir(parents=True)
        (home / ".config/frepo-client.toml").write_text(
            f'[defaults]\nspread = "0"\n[job.dump]\ncollection = "host-{number}.sql"\n'
            f'command = ["cat", "{home}/dump.sql"]\n'
        )
        body = json.dumps({"roles": ROLES, "name": f"host-{number}", "expires_at": None}).encode()
        token = json.loads(self._ask("POST", "/api/v1/tokens", body))
        self._ask("PUT", f"/api/v1/collections/{collection}/access/{token['fingerprint']}")
        (home / "token").write_text(token["secret"])
        (home / "token").chmod(0o600)
        return collection

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        return self._asking.ask(method, path, body)

    def send(self) -> None:
        """Let all clients send a new dump, and wait for the last one."""
        self._write_dumps()
        client = [PYTHON, str(self._program), "run"]
        self._run([self._curl(number) if number % 2 else client for number in range(len(self._collections))])

    def require_verdicts(self) -> None:
        """Raise `RuntimeError` if a version is missing or was found to be wrong. Some are checked after the rush."""
        for collection in self._collections:
            found = json.loads(self._ask("GET", f"/api/v1/collections/{collection}/versions"))["items"]
            verdicts = {version["verdict"] for version in found}
            if not found or verdicts - {"complete", "pending"}:
                raise RuntimeError(f"the versions of {collection} are {verdicts}")

    def _home(self, number: int) -> str:
        return str(self._where / f"host-{number}")

    def _write_dumps(self) -> None:
        turn = next(self._turns)
        for number in range(len(self._collections)):
            head = f"-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)\n-- Host: host-{number} Night: {turn}\n"
            end = "-- Dump completed on 2026-05-01  2:15:00\n"
            path = Path(self._home(number), "dump.sql")
            path.write_bytes(head.encode() + self._base + end.encode())

    def _run(self, lines: list[list[str]]) -> None:
        os.sync()
        processes = [
            subprocess.Popen(["nice", "-n", "19", *line], env=self._environment(number), stdout=subprocess.DEVNULL)
            for number, line in enumerate(lines)
        ]
        statuses = [process.wait() for process in processes]
        if any(statuses):
            raise RuntimeError(f"{sum(map(bool, statuses))} of {len(statuses)} clients failed")

    def _environment(self, number: int) -> dict[str, str]:
        home = self._home(number)
        own = {"HOME": home, "FREPO_URL": self._service.url, "FREPO_TOKEN_FILE": f"{home}/token"}
        return {"PATH": os.environ["PATH"]} | own

    def _curl(self, number: int) -> list[str]:
        url = f"{self._service.url}/api/v1/collections/{self._collections[number]}/versions"
        token = f"Authorization: Bearer {Path(self._home(number), 'token').read_text()}"
        return [
            "curl",
            "--fail-with-body",
            "-sS",
            "-X",
            "POST",
            "-H",
            token,
            "-T",
            f"{self._home(number)}/dump.sql",
            url,
        ]


@contextlib.contextmanager
def _asked(service: Service, path: str) -> Iterator[list[float]]:
    """Ask for a path ten times a second; yield the list of the seconds until each answer."""
    seconds: list[float] = []
    ends = threading.Event()

    def ask() -> None:
        while not ends.wait(0.1):
            start = time.perf_counter()
            connection = PersistentConnection(service.address, {})
            with contextlib.suppress(RuntimeError):  # 503 is an answer, too: a check took longer than its deadline
                connection.ask("GET", path)
            connection.close()
            seconds.append(time.perf_counter() - start)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seconds
    finally:
        ends.set()
        thread.join()
