"""What an adversary does who has the token of a cron job and has read the documentation."""

from collections.abc import Callable
from random import Random

from webtest import TestResponse

from frepo_core.domain.limits import COUNT
from support.client import COLLECTIONS
from support.siege.besieged import V1, Besieged

LARGE = 20_000
ATTACKS = ("tiny", "plausible", "large", "ladder", "copy", "again", "forbidden", "forbidden")


class Adversary:
    """Uploads garbage of each kind by both APIs, and tries what its token must not do. `draw` decides what, and how often."""

    def __init__(self, besieged: Besieged) -> None:
        self.besieged = besieged
        self.draw: Random = besieged.draw
        self.last = b"x" * 1000
        self.upload: dict[str, Callable[..., TestResponse]] = {"v1": self._by_v1, "old": self._by_old}

    def burst(self, after_each: Callable[[str], None]) -> None:
        """Attack some times, in one way or in several. `after_each` is given the answer to what was uploaded."""
        kinds = self.draw.choice([ATTACKS, (self.draw.choice(ATTACKS[:-2]),)])
        for _ in range(self.draw.choice((1, 4, 9))):
            kind = self.draw.choice(kinds)
            if kind == "forbidden":
                self.forbidden()
                after_each("forbidden")
            else:
                self.last = getattr(self, f"_{kind}")()
                answer = self.upload[self.draw.choice(("v1", "old"))](self.last)
                assert answer.status_int in (200, 201, 400, 409, 412, 413, 422, 429, 507), answer.text
                after_each("accepted" if answer.status_int < 300 else "refused")

    def forbidden(self) -> None:
        """Try what only an owner may do."""
        v1, old = self.besieged.v1, self.besieged.old
        number = self.draw.randint(1, max(self.besieged.numbers(), default=1))
        method, path, body = self.draw.choice(
            [
                ("DELETE", f"{v1}/versions/v{number}", None),
                ("DELETE", f"{v1}/versions/latest", None),
                ("DELETE", f"{old}/backup/v{number}", None),
                ("PATCH", f"{v1}/versions/v{number}", {"pinned": False}),
                ("PATCH", f"{v1}/versions/v{number}", {"quarantined": False}),
                ("PATCH", f"{v1}/versions/v{number}", {"note": "delete me"}),
                ("PATCH", v1, {"limits": {"versions": 1}}),
                ("PATCH", v1, {"guards": {"min_retention": "PT0S", "on_suspicious": "mark"}}),
                ("PATCH", v1, {"strategy": "delete_oldest_when_adding_new"}),
                ("PUT", COLLECTIONS, {"collection": self.besieged.collection, "filename": "dump.sql.gz", COUNT: 1}),
                ("DELETE", f"{v1}?versions=true", None),
                ("DELETE", v1, None),
                ("DELETE", old, None),
                ("DELETE", f"{v1}/trash", None),
                ("DELETE", f"{v1}/trash/{number}", None),
                ("POST", f"{v1}/trash/{number}/restore", None),
                ("DELETE", f"{V1}/deleted-collections/{self.besieged.collection}", None),
                ("POST", f"{V1}/deleted-collections/{self.besieged.collection}/restore", None),
                ("POST", f"{V1}/collections", {"name": "mine"}),
                ("POST", f"{V1}/tokens", {"roles": ["security.administrator"]}),
                ("POST", f"{V1}/jobs/sweep/run", None),
                ("POST", f"{old}/token", {"token": self.besieged.thief.token}),
                ("POST", "/repository/file/upload?fileName=a.txt", {"a": 1}),
            ]
        )
        answer = self.besieged.thief.call(method, path, json=body)
        assert 400 <= answer.status_int < 500, (method, path, answer.status_int, answer.text)

    def _by_v1(self, content: bytes) -> TestResponse:
        method = self.draw.choice(("PUT", "POST"))
        return self.besieged.thief.call(method, f"{self.besieged.v1}/versions", body=content, headers=self._headers())

    def _by_old(self, content: bytes) -> TestResponse:
        return self.besieged.thief.push(self.besieged.collection, content, headers=self._headers())

    def _headers(self) -> dict[str, str]:
        last = max(self.besieged.numbers(), default=0)
        return self.draw.choice(
            [
                {},
                {},
                {"Idempotency-Key": f"key-{self.draw.randint(1, 3)}"},
                {"If-Match": f'"v{last}"'},
                {"If-Match": '"v1"'},
                {"Content-Type": "application/gzip"},
            ]
        )

    def _tiny(self) -> bytes:
        return self.draw.randbytes(self.draw.randint(1, 99))

    def _plausible(self) -> bytes:
        """As large as a backup, so that no guard objects."""
        return self.draw.randbytes(self.draw.randint(1000, 1100))

    def _large(self) -> bytes:
        return self.draw.randbytes(self.draw.randint(LARGE // 2, LARGE))

    def _ladder(self) -> bytes:
        """A little more than half as large as the one before, which no guard against shrinking finds."""
        return self.draw.randbytes(len(self.last) * 6 // 10 + 1)

    def _copy(self) -> bytes:
        """A good backup that the token may download, sent again."""
        numbers = list(self.besieged.numbers())
        if not numbers:
            return self._plausible()
        path = f"{self.besieged.v1}/versions/v{self.draw.choice(numbers)}/content"
        answer = self.besieged.thief.get(path)
        assert answer.status_int == 200, answer.text
        return bytes(answer.body)

    def _again(self) -> bytes:
        return self.last
