"""Compares frepo with similar servers that do the same work."""

import contextlib
import json
import os
import shutil
import statistics
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from frepo_core.db import make_engine
from support import bulk_data
from support.servers.processes import free_port, running_process

from .harness import devpi
from .harness.client import PersistentConnection, fetch, make_file, post_file, stamp
from .harness.measure import Results, Sizes, alternate, disk, timed
from .harness.receivers import listens
from .harness.world import folder, frepo, headers
from .small import uploads, wrk
from .transfers import name

ENVIRONMENT = Path(__file__).parents[1] / ".venv-peers/bin"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A server under measurement; `list_all` requests all entries and returns their number.

    A function is None if the server does not support it.
    """

    name: str
    settings: str
    address: str
    upload: Callable[[Path], Any]
    download: Callable[[], Any]
    many_down: Callable[[], float]
    many_up: Callable[[], float] | None = None
    many_up_synced: Callable[[], float] | None = None
    list_all: Callable[[], int] | None = None


def run(results: Results, sizes: Sizes) -> None:
    """Measure five kinds of work, one after the other."""
    if shutil.which("wrk") is None:
        results.skipped["peers"] = "wrk is not installed"
        return
    with contextlib.ExitStack() as stack:
        where = stack.enter_context(folder())
        big = make_file(where / "big", sizes.middle)
        peers = [stack.enter_context(_frepo(where, sizes, big))]
        for start in (_copyparty, _wsgidav, _devpi, _rclone):
            with contextlib.suppress(FileNotFoundError):
                peers.append(stack.enter_context(start(where, sizes, big)))
        results.peers = [
            {"name": peer.name, "settings": peer.settings, "size": sizes.middle, "listed": sizes.listed, "disk": disk()}
            for peer in peers
        ]
        _measure(results, sizes, peers, big)
    results.write()


def _measure(results: Results, sizes: Sizes, peers: list[Peer], big: Path) -> None:
    def upload(peer: Peer) -> float:
        stamp(big)
        return sizes.middle / timed(lambda: peer.upload(big))() / 1e6

    def download(peer: Peer) -> float:
        return sizes.middle / timed(peer.download)() / 1e6

    def listing(peer: Peer, list_all: Callable[[], int]) -> float:
        counted: list[int] = []
        seconds = timed(lambda: counted.append(list_all()))()
        if counted[0] < sizes.listed:
            raise RuntimeError(f"{peer.name} listed {counted[0]} files")
        return seconds

    kinds: dict[str, dict[str, Callable[[], float]]] = {
        "upload MB/s": {peer.name: partial(upload, peer) for peer in peers},
        "download MB/s": {peer.name: partial(download, peer) for peer in peers},
        "4 KiB up /s": {peer.name: peer.many_up for peer in peers if peer.many_up},
        "4 KiB up synced /s": {peer.name: peer.many_up_synced for peer in peers if peer.many_up_synced},
        "4 KiB down /s": {peer.name: peer.many_down for peer in peers},
        "list s": {peer.name: partial(listing, peer, peer.list_all) for peer in peers if peer.list_all},
    }
    for kind, works in kinds.items():
        runs = 5 if sizes.full and kind != "list s" else 3
        samples = alternate(works, runs=runs, warm_up=sizes.full)
        for entry in results.peers:
            if entry["name"] in samples:
                entry[kind] = statistics.median(samples[entry["name"]])
        print("  " + kind, {key: round(statistics.median(value), 2) for key, value in samples.items()}, flush=True)


@contextlib.contextmanager
def _frepo(where: Path, sizes: Sizes, big: Path) -> Iterator[Peer]:
    with frepo(where / "frepo") as service:
        engine = make_engine(service.environment["DATABASE_URL"])
        bulk_data.fill_files(engine, sizes.listed)
        engine.dispose()
        mine = headers(service)
        kept = post_file(service.address, name(), big, mine)["filename"]
        little = post_file(service.address, name(), make_file(where / "little", 4096), mine)["filename"]
        keep = set(service.storage.glob("*/*"))

        def upload(file: Path) -> None:
            post_file(service.address, name(), file, mine)

        def many_up() -> float:
            return uploads(service.url, where, sizes, headers=mine)

        def list_all() -> int:
            connection, page, found, last = PersistentConnection(service.address, mine), 1, 0, 1
            while page <= last:
                answer = json.loads(connection.ask("GET", f"/repository?limit=1000&page={page}"))
                found, last, page = found + len(answer["results"]), answer["pagination"]["max"], page + 1
            return found

        yield Peer(
            name="frepo",
            settings="development.ini: SQLite, local storage, 8 threads; SHA-256, a token, deduplication, fsync",
            address=service.address,
            upload=upload,
            download=lambda: fetch(service.address, f"/repository/file/{kept}"),
            many_up=many_up,
            many_up_synced=many_up,
            many_down=lambda: wrk(f"{service.url}/repository/file/{little}", 8, sizes.seconds)["rate"],
            list_all=list_all,
        )
        for path in set(service.storage.glob("*/*")) - keep:
            path.unlink()


@contextlib.contextmanager
def _tree(
    where: Path, sizes: Sizes, big: Path, label: str, command: Callable[[Path, int], list[str]], **more: Any
) -> Iterator[Peer]:
    """Run a server on a folder; all three servers accept PUT to a path below it."""
    root, port = where / label.split(maxsplit=1)[0], free_port()
    (root / "listed").mkdir(parents=True)
    (root / "up").mkdir()
    (root / "synced").mkdir()
    is_synced = _sync_always(root / "synced")
    for number in range(sizes.listed):
        (root / "listed" / f"night-{number}.sql.gz").touch()
    shutil.copy(big, root / "big")
    make_file(root / "little", 4096)
    address, log = f"127.0.0.1:{port}", where / f"{label.split(maxsplit=1)[0]}-log"
    log.mkdir()
    lister = more.pop("lister")
    line = command(root, port)
    environment = {"PATH": os.environ["PATH"], "HOME": str(log)}
    with running_process(line, log, partial(listens, port), env=environment):
        numbers = iter(range(1_000_000))

        def many_up(path: str) -> float:
            return uploads(f"http://{address}", where, sizes, headers={}, path=path, method="PUT")

        yield Peer(
            name=label,
            address=address,
            upload=lambda file: post_file(address, f"/up/{next(numbers)}.bin", file, {}, method="PUT"),
            download=lambda: fetch(address, "/big"),
            many_up=partial(many_up, "/up/"),
            many_up_synced=partial(many_up, "/synced/") if is_synced else None,
            many_down=lambda: wrk(f"http://{address}/little", 8, sizes.seconds)["rate"],
            list_all=lambda: lister(address),
            **more,
        )


def _sync_always(folder: Path) -> bool:
    """Let the system sync each write to new files in the folder (chattr +S); return whether it can."""
    return subprocess.run(["chattr", "+S", folder], check=False, capture_output=True).returncode == 0


def _copyparty(where: Path, sizes: Sizes, big: Path) -> Any:
    program = ENVIRONMENT / "copyparty"

    def command(root: Path, port: int) -> list[str]:
        return [str(program), "-q", "-i", "127.0.0.1", "-p", str(port), "--put-ck", "sha256", "-v", f"{root}::rw"]

    def lister(address: str) -> int:
        return len(json.loads(PersistentConnection(address, {}).ask("GET", "/listed/?ls"))["files"])

    text = "-q --put-ck sha256 -v ROOT::rw; SHA-256 of what is sent by PUT, no index"
    return _tree(where, sizes, big, f"copyparty {_version(program)}", command, settings=text, lister=lister)


def _wsgidav(where: Path, sizes: Sizes, big: Path) -> Any:
    program = ENVIRONMENT / "wsgidav"

    def command(root: Path, port: int) -> list[str]:
        address = ["--host", "127.0.0.1", "--port", str(port)]
        return [str(program), *address, "--root", str(root), "--auth", "anonymous", "-q"]

    text = "cheroot, --auth anonymous; no hash"
    return _tree(where, sizes, big, f"wsgidav {_version(program)}", command, settings=text, lister=_propfind)


@contextlib.contextmanager
def _devpi(where: Path, sizes: Sizes, big: Path) -> Iterator[Peer]:
    label = f"devpi-server {_version(ENVIRONMENT / 'devpi-server')}"
    with devpi.index(ENVIRONMENT, where / "devpi") as index:
        kept = index.path(index.upload(big))
        little = index.path(index.upload(make_file(where / "release", 4096)))
        yield Peer(
            name=label,
            settings="waitress, 50 threads, files in a folder, SQLite; SHA-256, a login; its uploads are releases, "
            "as forms",
            address=index.address,
            upload=index.upload,
            download=lambda: fetch(index.address, kept),
            many_down=lambda: wrk(f"http://{index.address}{little}", 8, sizes.seconds)["rate"],
        )


def _rclone(where: Path, sizes: Sizes, big: Path) -> Any:
    program = Path(shutil.which("rclone") or "/nowhere/rclone")

    def command(root: Path, port: int) -> list[str]:
        return [str(program), "serve", "webdav", str(root), "--addr", f"127.0.0.1:{port}"]

    text = "serve webdav, as it comes; no hash"
    return _tree(where, sizes, big, f"rclone {_version(program)}", command, settings=text, lister=_propfind)


def _propfind(address: str) -> int:
    return PersistentConnection(address, {"Depth": "1"}).ask("PROPFIND", "/listed/").count(b"response>") // 2 - 1


def _version(program: Path) -> str:
    """Return the version that the program prints; raises `FileNotFoundError` if it is not installed."""
    if program.name == "rclone":
        text = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
        return text.split()[1].lstrip("v")
    listed = Path(__file__).with_name("peers.txt").read_text().split()
    if not program.exists():
        raise FileNotFoundError(program)
    return next(line.split("==")[1] for line in listed if line.startswith(program.name))
