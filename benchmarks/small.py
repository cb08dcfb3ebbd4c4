"""Measures small requests with wrk: requests per second, and the 99th percentile of their latency."""

import contextlib
import os
import re
import shutil
import subprocess
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from support.servers import postgresql
from support.servers.service import Service

from .harness.client import make_file, post_file
from .harness.measure import RUNS, Results, Sizes, alternate, compare, compare_with_goal
from .harness.world import folder, frepo, headers, two_processes

RATE = 600  # uploads per second
PROCESSOR_SECONDS = 1.5e-3
MISSING = None if shutil.which("wrk") else "wrk is not installed"

# Each thread of wrk runs a copy of this script with a unique mark, so that all bodies differ.
UPLOADS = """\
local marks, sent = 0, 0
function setup(thread) thread:set("mark", "{mark}" .. marks); marks = marks + 1 end
function request()
    sent = sent + 1
    local name = string.format("%s-%d.bin", mark, sent)
    local body = string.rep("{byte}", 4096 - #name) .. name
    return wrk.format("{method}", "{path}"{name}, {{ {headers} }}, body)
end
"""


def run(results: Results, sizes: Sizes) -> None:
    """Measure latency under concurrency, and rates against an empty view."""
    if MISSING:
        results.skipped["small"] = MISSING
        return
    with folder() as where, frepo(where / "frepo") as service, empty(where / "empty") as other:
        _latency(results, sizes, service)
        small = make_file(where / "small", 4096)
        stored = post_file(service.address, "/repository/file/upload?fileName=small.bin", small, headers(service))
        kept = f"{service.url}/repository/file/{stored['filename']}"
        with urllib.request.urlopen(kept) as answer:
            tag = answer.headers["ETag"]
        down = alternate(
            {
                "ours": lambda: wrk(kept, 8, sizes.seconds)["rate"],
                "unchanged": lambda: wrk(kept, 8, sizes.seconds, f"If-None-Match: {tag}")["rate"],
                "empty": lambda: wrk(f"{other.url}/", 8, sizes.seconds)["rate"],
            }
        )
        up = alternate(
            {
                "ours": lambda: uploads(service.url, where, sizes, headers=headers(service)),
                "no text": lambda: uploads(service.url, where, sizes, headers=headers(service), byte="\\0"),
                "empty": lambda: uploads(other.url, where, sizes, headers={}),
            }
        )
    more = {"unit": "/s", "is_most": False}
    what = "4 KiB downloads, 8 clients : an empty view"
    results.add(compare("small", what, down["ours"], down["empty"], reach=0.7, **more))
    what = "4 KiB downloads with If-None-Match, unchanged, 8 clients : an empty view"
    results.add(compare("small", what, down["unchanged"], down["empty"], reach=0.8, **more))
    what = "4 KiB uploads, 8 clients, SQLite : an empty view"
    results.add(compare("small", what, up["ours"], up["empty"], reach=0.5, **more))
    what = "the same of bytes that are no text : an empty view"
    results.add(compare("small", what, up["no text"], up["empty"], reach=0.5, **more))
    _two_processes(results, sizes)


def _latency(results: Results, sizes: Sizes, service: Service) -> None:
    def p99(connections: int) -> float:
        return wrk(f"{service.url}/version", connections, sizes.seconds, f"X-Auth-Token: {service.admin}")["p99"]

    samples = alternate({str(count): lambda count=count: p99(count) for count in (1, 4, 16)})  # type: ignore[misc]
    for count, reach in (("1", 2), ("4", 6), ("16", 20)):
        what = f"p99 of GET /version, {count} connections : 1"
        note = "the 99th percentiles of two samples with one connection, the first and the last" if count == "1" else ""
        ours, theirs = (samples["1"][1::2], samples["1"][::2]) if count == "1" else (samples[count], samples["1"])
        results.add(compare("small", what, ours, theirs, reach=reach, note=note))


def _two_processes(results: Results, sizes: Sizes) -> None:
    """Measure uploads to two processes together, and the processor time that these take for each."""
    with contextlib.ExitStack() as stack:
        databases: dict[str, dict[str, str]] = {"SQLite": {}}
        if not postgresql.MISSING:
            databases["PostgreSQL"] = {"DATABASE_URL": stack.enter_context(postgresql.postgresql())}
        where = stack.enter_context(folder())
        for database, environment in databases.items():
            with two_processes(where / database, **environment) as services:
                for kind, byte in (("", "x"), (" of bytes that are no text", "\\0")):
                    rates, times = zip(
                        *(_upload_to_all(services, where, sizes, byte) for _ in range(RUNS)), strict=True
                    )
                    what = f"4 KiB uploads{kind} to two processes, {database}"
                    more = {"unit": "/s", "is_most": False}
                    results.add(compare_with_goal("small", f"{what} : 600/s", list(rates), RATE, **more))
                    what = f"processor time of one, {what} : 1.5 ms"
                    results.add(compare_with_goal("small", what, list(times), PROCESSOR_SECONDS))


def _upload_to_all(services: list[Service], where: Path, sizes: Sizes, byte: str) -> tuple[float, float]:
    """Return the uploads per second of all services together, and the processor seconds of one."""
    folders = [where / f"client{number}" for number in range(len(services))]
    for each in folders:
        each.mkdir(exist_ok=True)
    before = sum(processor_seconds(service.pid) for service in services)
    with ThreadPoolExecutor(len(services)) as threads:
        sample = partial(uploads, sizes=sizes, headers=headers(services[0]), connections=4, byte=byte)
        rate = sum(threads.map(lambda service, scripts: sample(service.url, scripts), services, folders))
    used = sum(processor_seconds(service.pid) for service in services) - before
    return rate, used / (rate * sizes.seconds)


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used (proc(5), utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def uploads(
    url: str,
    where: Path,
    sizes: Sizes,
    *,
    headers: dict[str, str],
    path: str = "/repository/file/upload?fileName=",
    method: str = "POST",
    byte: str = "x",
    connections: int = 8,
    is_named: bool = True,
) -> float:
    """Upload different files of 4 KiB over some connections; return uploads per second. `byte` is in Lua's notation.

    Each has a name of its own at the end of the path with `is_named`.
    """
    lua = ", ".join(f'["{name}"]="{value}"' for name, value in headers.items())
    script = where / "uploads.lua"
    name = " .. name" if is_named else ""
    script.write_text(
        UPLOADS.format(mark=uuid.uuid4().hex, path=path, name=name, headers=lua, method=method, byte=byte)
    )
    return wrk(url, connections, sizes.seconds, script=script)["rate"]


def wrk(url: str, connections: int, seconds: float, *header: str, script: Path | None = None) -> dict[str, float]:
    """Run wrk; return `rate` (answers per second) and `p99` (seconds). Raises `RuntimeError` if a request failed."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "30s"]
    command += [part for one in header for part in ("-H", one)] + (["-s", str(script)] if script else [])
    text = subprocess.run([*command, url], check=True, capture_output=True, text=True).stdout
    rate, p99 = re.search(r"Requests/sec:\s+([\d.]+)", text), re.search(r"99%\s+([\d.]+)(us|ms|s)", text)
    if "Non-2xx" in text or "Socket errors" in text or not (rate and p99):
        raise RuntimeError(text)
    return {"rate": float(rate[1]), "p99": float(p99[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1}[p99[2]]}


@contextlib.contextmanager
def empty(where: Path) -> Iterator[Service]:
    """Run `empty.py` with the server section of development.ini. It stores uploads with as many syncs as frepo."""
    where.mkdir()
    service = Service(where, {"PYTHONPATH": str(Path(__file__).parents[1])})
    server = service.ini.read_text().partition("[server:main]")[2].replace("level = INFO", "level = WARNING")
    app = (
        "[app:main]\nuse = call:benchmarks.harness.empty:main\n"
        f"database.url = sqlite:///{where}/empty.db\nfolder = {where}/stored\n"
    )
    service.ini = where / "empty.ini"
    service.ini.write_text(f"[DEFAULT]\nhttp_listen = {service.address}\n{app}\n[server:main]{server}")
    service.start()
    try:
        yield service
    finally:
        service.stop()
