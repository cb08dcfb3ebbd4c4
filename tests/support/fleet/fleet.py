"""A fleet of hosts that send their dumps to a service over HTTP."""

import csv
import http.client
import io
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from .nightly_dumps import ERROR, FAILURES, Failure, dump, pack

API = "/api/v1"


class Http:
    """A kept connection to the service."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=60)

    def close(self) -> None:
        self._connection.close()

    def call(self, token: str, method: str, path: str, body: bytes | None = None, **query: Any) -> tuple[int, bytes]:
        """Send a request; return the status and the content of the answer."""
        target = API + path + (f"?{urlencode(query, doseq=True)}" if query else "")
        self._connection.request(method, target, body, {"Authorization": f"Bearer {token}"})
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def read(self, token: str, path: str, **query: Any) -> Any:
        """Return the answer of a request that must succeed."""
        status, content = self.call(token, "GET", path, **query)
        assert status == 200, content
        return json.loads(content)


@dataclass
class Host:
    """A host. What its failure is, if it has one, its name says; it begins on the night `begins`.

    `newest_good` is the newest content that it has sent and that is good.
    """

    name: str
    collection: str
    token: str
    begins: int
    newest_good: bytes = b""

    @property
    def failure(self) -> Failure | None:
        return FAILURES.get(self.name.rpartition("-")[0])

    def content(self, night: int) -> bytes | None:
        """Return what the host sends on this night; None for nothing."""
        if self.failure and night >= self.begins:
            return self.failure.send(self.name, night, night - self.begins)
        return pack(dump(self.name, night))

    def fails_on(self, night: int) -> bool:
        """Return whether something is wrong on this night: of a dump that shrinks, when it has lost half."""
        if self.failure is None or night < self.begins:
            return False
        content = self.content(night)
        return not (self.failure.shrinks and content and 2 * len(content) >= len(pack(dump(self.name, 0))))

    def words(self, night: int) -> str:
        """Return what the reason has to say in the morning after this night, if something is wrong."""
        assert self.failure
        return self.failure.later if self.failure.later and night > self.begins else self.failure.words

    def back_up(self, http: Http, night: int) -> None:
        """Send what the host has on this night, or report that it has failed."""
        content = self.content(night)
        if content is not None:
            status, answer = http.call(self.token, "PUT", f"/collections/{self.collection}/versions", content)
            assert status == 201, answer
            assert json.loads(answer)["quarantined"] == self.fails_on(night), (self.name, night, answer)
        elif self.failure and self.failure.is_reported:
            report = json.dumps({"outcome": "failed", "exit_statuses": [2, 0], "error_output": ERROR}).encode()
            status, answer = http.call(self.token, "POST", f"/collections/{self.collection}/runs", report)
            assert status == 201, answer
        if content is not None and not self.fails_on(night):
            self.newest_good = content


def read_hosts(answer: str, begins: dict[str, int]) -> list[Host]:
    """Return the hosts in the answer of `frepo fleet:create -f csv`."""
    return [
        Host(
            name=row["Host"],
            collection=row["Collection"],
            token=row["Token"],
            begins=begins.get(row["Host"].rpartition("-")[0], 0),
        )
        for row in csv.DictReader(io.StringIO(answer))
    ]
