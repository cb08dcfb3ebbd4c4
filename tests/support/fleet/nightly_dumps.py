"""What the hosts of a fleet send each night: whole dumps, and what is wrong with those of a host that fails."""

import gzip
import random
from collections.abc import Callable
from dataclasses import dataclass

from support.scale import IS_BIG

ROWS = 120
# The part that a dump loses each night, of those that become smaller and smaller.
SHRINKS = 0.04 if IS_BIG else 0.2
PAGE = b"<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n"
ERROR = "mariadb-dump: Got error: 1045: Access denied for user 'backup'@'localhost'\n"


def dump(host: str, night: int, *, rows: float = ROWS, database: str = "shop") -> bytes:
    """Return a dump by MariaDB, with other rows for each host and night; gzip halves it."""
    chance = random.Random(f"{host} {night}")
    lines = [f"INSERT INTO `orders` VALUES ({number},'{chance.randbytes(32).hex()}');" for number in range(round(rows))]
    head = [
        "-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)",
        f"--\n-- Host: localhost    Database: {database}",
        "-- ------------------------------------------------------",
        "CREATE TABLE `orders` (`id` int, `text` varchar(64));",
    ]
    return "\n".join([*head, *lines, "-- Dump completed on 2028-02-01  2:00:07\n"]).encode()


def dump_of_postgresql(host: str, night: int) -> bytes:
    """Return a whole dump by another program, of about the same size."""
    lines = dump(host, night).split(b"\n")[5:-2]
    end = [b"--", b"-- PostgreSQL database dump complete", b"--\n"]
    return b"\n".join([b"--\n-- PostgreSQL database dump\n--\n", *lines, *end])


def pack(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def cut_at_60_percent(content: bytes) -> bytes:
    return content[: len(content) * 6 // 10]


@dataclass(frozen=True, kw_only=True)
class Failure:
    """What goes wrong on some hosts, from one night on.

    `send` returns what a host sends on a night, of which it is the n-th bad one, from 0; None for nothing. `words` must
    be in the reason of the first morning, and `later` in that of all others. `is_odd` is what is no broken backup.
    """

    send: Callable[[str, int, int], bytes | None]
    words: str
    later: str = ""
    is_reported: bool = False
    is_odd: bool = False
    shrinks: bool = False


def _send_another_dump(host: str, night: int, bad: int) -> bytes:
    # A dump of another program is accepted on its second night, but one of another database by a person only.
    return pack(dump(host, night, database="wiki") if bad else dump_of_postgresql(host, night))


def _send_fewer_rows(host: str, night: int, bad: int) -> bytes:
    return pack(dump(host, night, rows=ROWS * (1 - SHRINKS) ** (bad + 1)))


def _send_nothing(host: str, night: int, bad: int) -> None:
    pass


FAILURES = {
    "shrinking": Failure(send=_send_fewer_rows, words="smaller", is_odd=True, shrinks=True),
    "error-page": Failure(send=lambda host, night, bad: PAGE, words="HTML", is_odd=True),
    "another-dump": Failure(send=_send_another_dump, words="PostgreSQL", later="wiki", is_odd=True),
    "cut-at-60-percent": Failure(
        send=lambda host, night, bad: cut_at_60_percent(pack(dump(host, night))), words="ends"
    ),
    "cut-in-the-last-bytes": Failure(
        send=lambda host, night, bad: pack(dump(host, night))[: -1 - bad % 8], words="ends"
    ),
    "killed-dumper": Failure(send=lambda host, night, bad: pack(cut_at_60_percent(dump(host, night))), words="ends"),
    "empty-gzip": Failure(send=lambda host, night, bad: pack(b""), words="empty"),
    "silent": Failure(send=_send_nothing, words="no good backup has arrived since"),
    "failed-run": Failure(send=_send_nothing, words="Access denied", is_reported=True),
}
