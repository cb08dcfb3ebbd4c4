"""Any history of parts, breaks, wrong requests and restarts: what was acknowledged stays, and only that is stored.

The model knows what each upload has received; after each step `HEAD` must answer as much, and at the end the collection
must contain the committed contents, each once and in their order.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule, run_state_machine_as_test
from webtest import TestApp

from frepo_core.web import make_app
from support.client import with_settings
from support.scale import IS_BIG
from support.tus.client import Tus, checksum

BYTES = st.binary(min_size=1, max_size=40)


@dataclass(eq=False)
class Known:
    """What the model knows of an upload. `state` is `open`, `committed`, `failed` or `gone`."""

    path: str
    length: int | None
    required: bool
    received: bytes = b""
    state: str = "open"
    parts: list[bytes] = field(default_factory=list)

    @property
    def left(self) -> int | None:
        return None if self.length is None else self.length - len(self.received)


class History(RuleBasedStateMachine):
    """`services`, `apps`, `token`, `folder` and `make_collection` are set by the test."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.collection = self.make_collection()
        self.uploads: list[Known] = []
        self.committed: list[bytes] = []
        self.tus = Tus(self.apps[0], self.token)

    @rule()
    def go_to_the_other_process(self) -> None:
        """Send what follows to another application, which knows nothing of what this one has hashed."""
        self.apps = self.apps[::-1]
        self.tus = Tus(self.apps[0], self.token)

    @rule(target=known, length=st.none() | st.integers(1, 100), required=st.booleans(), data=st.none() | BYTES)
    def create(self, length, required, data):
        headers = {"Upload-Commit": "required"} if required else {}
        if data is not None and length is not None:
            data = data[:length]
        upload = Known("", length, required)
        upload.path = self.tus.create(length, data, headers=headers, collection=self.collection)
        self.uploads.append(upload)
        self._received(upload, data or b"")
        return upload

    @rule(upload=known, data=BYTES, with_checksum=st.booleans())
    def send(self, upload, data, with_checksum):
        if upload.state == "open" and upload.left is not None:
            data = data[: upload.left]
        answer = self.tus.patch(
            upload.path, len(upload.received), data, {"Upload-Checksum": checksum(data)} if with_checksum else {}
        )
        if upload.state == "open" and data:
            assert 204 == answer.status_int, answer
            self._received(upload, data)
        elif upload.state in {"gone", "failed"}:
            assert 410 == answer.status_int
        else:
            assert (204 if not data else 413) == answer.status_int

    @rule(upload=known, data=BYTES)
    def send_with_a_wrong_checksum(self, upload, data):
        if upload.state == "open" and upload.left != 0:
            data = data[: upload.left]
            sent = {"Upload-Checksum": checksum(data + b"!")}
            assert 460 == self.tus.patch(upload.path, len(upload.received), data, sent).status_int

    @rule(upload=known, data=BYTES, offset=st.integers(0, 120))
    def send_elsewhere(self, upload, data, offset):
        if upload.state == "open" and offset != len(upload.received) and (upload.length or 200) >= offset + len(data):
            assert 409 == self.tus.patch(upload.path, offset, data).status_int

    @rule(upload=known, data=BYTES, more=st.integers(1, 50))
    def break_off(self, upload, data, more):
        if upload.state == "open" and (upload.left is None or len(data) + more <= upload.left):
            self.tus.break_off(upload.path, len(upload.received), data, len(data) + more)
            upload.received += data

    @rule(upload=known)
    def say_the_length(self, upload):
        if upload.state == "open" and upload.length is None and upload.received:
            length = len(upload.received)
            answer = self.tus.patch(upload.path, length, b"", {"Upload-Length": str(length)})
            assert 204 == answer.status_int, answer
            upload.length = length
            self._received(upload, b"")

    @rule(upload=known, rest=BYTES)
    def leave_bytes_that_were_not_acknowledged(self, upload, rest):
        """A crash leaves them in the file."""
        if upload.state == "open":
            with (self.folder / f"{upload.path.rpartition('/')[2]}.part").open("ab") as file:
                file.write(rest)

    @rule(upload=known)
    def commit(self, upload):
        answer = self.tus.commit(upload.path)
        if upload.state == "open" and upload.required and upload.left == 0:
            assert 200 == answer.status_int, answer
            self._commit(upload)
        elif upload.state in {"committed", "failed"}:
            assert 200 == answer.status_int
        else:
            assert (410 if upload.state == "gone" else 409) == answer.status_int

    @rule(upload=known)
    def fail(self, upload):
        if upload.state == "open":
            answer = self.tus.commit(upload.path, exit_statuses=[1])
            assert (200, "failed") == (answer.status_int, answer.json["state"])
            upload.state = "failed"

    @rule(upload=consumes(known))
    def end(self, upload):
        assert (204 if upload.state == "open" else 410) == self.tus.delete(upload.path).status_int
        if upload.state == "open":
            upload.state = "gone"

    @invariant()
    def head_answers_what_was_acknowledged(self):
        for upload in self.uploads:
            answer = self.tus.head(upload.path)
            if upload.state in {"gone", "failed"}:
                assert 410 == answer.status_int
            else:
                assert (200, str(len(upload.received))) == (answer.status_int, answer.headers["Upload-Offset"])

    def _received(self, upload, data):
        upload.received += data
        if len(upload.received) == upload.length and not upload.required:
            self._commit(upload)

    def _commit(self, upload):
        upload.state = "committed"
        self.committed.append(upload.received)

    def teardown(self):
        for upload in self.uploads:
            if upload.state == "open":
                self.tus.delete(upload.path)
        found = self.services.versions.list(self.collection)
        contents = []
        for version in sorted(found, key=lambda version: version.number):
            with self.services.contexts["uploads"].service.open_version(self.collection, version.number) as file:
                contents.append(file.read())
        assert self.committed == contents


@pytest.mark.costly
@with_settings(uploads__max_open="1000")
def test_what_was_acknowledged_stays_and_only_that_is_stored(services, admin, root, tmp_path):
    def make_collection(machine):
        form = {"filename": "a.bin", "maxBackupsCount": 0, "maxOneVersionSize": 0, "maxCollectionSize": 0}
        return root.create(**form).json["collection"]["id"]

    apps = [TestApp(make_app(services)) for _ in range(2)]
    attributes = {"services": services, "apps": apps, "token": admin, "make_collection": make_collection}
    machine = type("OwnHistory", (History,), attributes | {"folder": tmp_path / "uploads"})

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=100 if IS_BIG else 15,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
