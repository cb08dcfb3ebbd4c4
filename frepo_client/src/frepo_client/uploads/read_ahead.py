"""Reading the next part of a dump while the one before is sent."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Piece = TypeVar("Piece")


def read_ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Yield the pieces; one is read in advance. At most three are in memory: read, waiting, sent."""
    waiting: queue.Queue[Piece | BaseException | None] = queue.Queue(maxsize=1)
    is_over = threading.Event()

    def put(item: Piece | BaseException | None) -> bool:
        while not is_over.is_set():
            try:
                waiting.put(item, timeout=0.5)
            except queue.Full:
                continue
            return True
        return False

    def read() -> None:
        try:
            for piece in pieces:
                if not put(piece):
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that sends
            put(error)
        else:
            put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while (item := waiting.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        is_over.set()
