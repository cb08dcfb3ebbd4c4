"""What an adversary does who has the token of a cron job and has read the documentation."""

import base64
import hashlib
from collections.abc import Callable
from contextvars import copy_context
from random import Random
from threading import Thread

from webtest import TestResponse

from support.client import COLLECTIONS
from support.scale import IS_BIG
from support.siege.besieged import V1, Besieged

LARGE = 20_000
UPLOADS = ("tiny", "plausible", "large", "huge", "ladder", "copy", "again")
ATTACKS = (*UPLOADS, "two_at_once", "broken", "forbidden", "forbidden")
REFUSALS = (400, 409, 411, 412, 413, 415, 422, 429)


class Adversary:
    """Uploads garbage by both APIs, and tries what its token must not do. `draw` chooses the kinds and numbers."""

    def __init__(self, besieged: Besieged) -> None:
        self.besieged = besieged
        self.draw: Random = besieged.draw
        self.last = b"x" * 1000
        self.upload: list[Callable[[bytes], TestResponse]] = [self._by_v1, self._by_old, self._by_form]

    def burst(self, after_each: Callable[[str], None]) -> None:
        """Attack some times, in one way or in several. `after_each` is given the answer to what was uploaded."""
        kinds = self.draw.choice([ATTACKS, (self.draw.choice(UPLOADS),)])
        for _ in range(self.draw.choice((1, 4, 9))):
            kind = self.draw.choice(kinds)
            after_each(self._upload(getattr(self, f"_{kind}")()) if kind in UPLOADS else getattr(self, kind)())

    def flood(self, after_each: Callable[[str], None]) -> None:
        """Upload garbage of one kind many times, without a pause."""
        kind = self.draw.choice(UPLOADS)
        for _ in range(60 if IS_BIG else 20):
            after_each(self._upload(getattr(self, f"_{kind}")()))

    def _upload(self, content: bytes) -> str:
        """Upload; return what the service has decided."""
        self.last = content
        answer = self.draw.choice(self.upload)(content)
        assert answer.status_int in (200, 201, 507, *REFUSALS), answer.text
        return "accepted" if answer.status_int < 300 else "no room" if answer.status_int == 507 else "refused"

    def two_at_once(self) -> str:
        """Upload by two clients at the same time."""
        other = Adversary(self.besieged)
        contents = [self._plausible(), self.draw.choice((self._plausible, self._tiny))()]
        calls = [lambda: self._by_v1(contents[0], {}), lambda: other._by_old(contents[1], {})]
        answers: list[TestResponse] = []
        threads = [
            Thread(target=copy_context().run, args=(lambda call=call: answers.append(call()),)) for call in calls
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(answers) == len(threads)
        assert all(answer.status_int in (200, 201, 507, *REFUSALS) for answer in answers), answers
        return "several"

    def broken(self) -> str:
        """Send a body that is not what its headers say."""
        content, v1 = self._plausible(), f"{self.besieged.v1}/versions"
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        headers, body = self.draw.choice(
            [
                ({"Repr-Digest": f"sha-256=:{digest}:"}, content[1:]),
                ({"Content-Digest": "sha-256=:nonsense:"}, content),
                ({"Content-Range": "bytes 0-9/2000"}, content),
                ({"Content-Type": "multipart/form-data"}, content),
                (
                    {"Content-Type": "multipart/form-data; boundary=b"},
                    b"--b\r\nContent-Disposition: form-data\r\n\r\n" + content,
                ),
                ({"If-Match": "v99999"}, content),
                ({"Idempotency-Key": "k" * 300}, content),
                ({}, b""),
            ]
        )
        path, method = self.draw.choice([(v1, "POST"), (f"{self.besieged.old}/backup", "POST")])
        answer = self.besieged.thief.call(method, path, body=body, headers=headers)
        assert answer.status_int in REFUSALS, (headers, answer.status_int, answer.text)
        return "refused"

    def forbidden(self) -> str:
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
                (
                    "PUT",
                    COLLECTIONS,
                    {"collection": self.besieged.collection, "filename": "dump.sql.gz", "maxBackupsCount": 1},
                ),
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
        return "forbidden"

    def _by_v1(self, content: bytes, headers: dict[str, str] | None = None) -> TestResponse:
        path, headers = f"{self.besieged.v1}/versions", self._headers() if headers is None else headers
        return self.besieged.thief.call(self.draw.choice(("PUT", "POST")), path, body=content, headers=headers)

    def _by_old(self, content: bytes, headers: dict[str, str] | None = None) -> TestResponse:
        headers = self._headers() if headers is None else headers
        return self.besieged.thief.push(self.besieged.collection, content, headers=headers)

    def _by_form(self, content: bytes) -> TestResponse:
        path = self.draw.choice((f"{self.besieged.v1}/versions", f"{self.besieged.old}/backup"))
        return self.besieged.thief.send_form(("file", "night.sql.gz", content), path=path)

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

    def _huge(self) -> bytes:
        """Larger than what a small storage has free, or than all of it."""
        return self.draw.randbytes(self.draw.choice((LARGE, 2 * LARGE - 1500, 3 * LARGE)))

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
