"""A real service whose storage fails as a file orders; the orders may change while it runs."""

import io
import json
import os
import random
from pathlib import Path
from typing import Any, BinaryIO, cast

from frepo_core import main
from frepo_core.testing import Fail, FaultyStorage, Stall, Truncate
from frepo_core.testing.faulty import Fault
from support.servers.service import ROOT

ENVIRONMENT = "FREPO_TEST_FAULTS"
TRAILER = b"\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
KINDS = {"fail": Fail, "truncate": Truncate, "stall": Stall}


class OrderedFaults(FaultyStorage):
    """Fails as the file orders: a list of `{"method", "kind", "after"?, "seconds"?, "chance"?}`.

    The kind `trailer` stores the frames of a chunked upload along with the content, as some stores did;
    `remote` has no local files, so that downloads are streamed.
    """

    def _enter(self, method: Any) -> Fault:
        self.faults = [_fault(order) for order in _orders() if order["method"] == method and _happens(order)]
        return super()._enter(method)

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Store the content with the ordered faults."""
        if any(order["kind"] == "trailer" and _happens(order) for order in _orders()):
            head = f"{size:x}\r\n".encode()
            self.inner.store(key, cast(BinaryIO, _Framed(head, content)), len(head) + size + len(TRAILER))
            return
        super().store(key, content, size)

    def path(self, key: str) -> Path | None:
        """Return the local path, or None."""
        return None if any(order["kind"] == "remote" for order in _orders()) else super().path(key)


class _Framed:
    """Content between a head and a trailer, read in pieces, because a soak measures the memory of this process."""

    def __init__(self, head: bytes, content: BinaryIO) -> None:
        self._parts = [io.BytesIO(head), content, io.BytesIO(TRAILER)]

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes, up to the end of a part."""
        while self._parts:
            if piece := self._parts[0].read(size):
                return piece
            del self._parts[0]
        return b""


def _orders() -> list[dict[str, Any]]:
    path = Path(os.environ[ENVIRONMENT])
    return cast(list[dict[str, Any]], json.loads(path.read_text())) if path.exists() else []


def _happens(order: dict[str, Any]) -> bool:
    return random.random() < order.get("chance", 1)


def _fault(order: dict[str, Any]) -> Fault:
    more = {name: order[name] for name in ("after", "seconds") if name in order}
    return KINDS.get(order["kind"], Fault)(order["method"], nth=0, **more)


def app(global_config: dict[str, Any], **settings: str) -> Any:
    """Build the application, with faults around its storage (`paste.app_factory`)."""
    made: Any = main(global_config, **settings)
    storages = made.registry.services.backends
    storages._built[storages.current] = OrderedFaults(storages.get(storages.current))
    return made


def order(path: Path, *orders: dict[str, Any]) -> None:
    """Order these faults from now on, and no others."""
    ready = path.with_suffix(".new")
    ready.write_text(json.dumps(orders))
    ready.rename(path)


def faulty_ini(path: Path, **server: object) -> Path:
    """Write development.ini with this application in it; keywords are settings of its server."""
    text = (ROOT / "development.ini").read_text().replace("egg:frepo-core\n", "call:support.reliability.faulty:app\n")
    for name, value in server.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{name} =")]
        text = "\n".join(lines).replace("[server:main]", f"[server:main]\n{name} = {value}") + "\n"
    path.write_text(text)
    return path
