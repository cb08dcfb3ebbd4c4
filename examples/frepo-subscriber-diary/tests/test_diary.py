"""The diary keeps the contract of subscribers, and survives a cut line."""

import json

import pytest

from frepo_core.plugins import Subscriber
from frepo_core.testing import SubscriberContract, make_context, make_event
from frepo_subscriber_diary import LAST_BYTES, DiarySettings, append


@pytest.fixture
def file(tmp_path):
    return tmp_path / "diary.jsonl"


@pytest.fixture
def context(file):
    return make_context(DiarySettings(file=file))


class TestContract(SubscriberContract):
    @pytest.fixture
    def subscriber(self):
        return Subscriber(name="diary", kinds=["*"], handle=append)

    @pytest.fixture
    def context(self, context):
        return context

    @pytest.fixture
    def effects(self, file):
        return lambda: file.read_bytes() if file.exists() else b""


def test_a_line_says_what_happened(file, context):
    append(make_event(position=3), context)
    append(make_event("token.revoked", position=4, data={"name": "Ж"}), context)

    first, second = map(json.loads, file.read_text().splitlines())

    assert (3, "version.added", 3) == (first["position"], first["kind"], first["version"])
    assert ("token.revoked", {"name": "Ж"}) == (second["kind"], second["data"])


def test_a_line_that_was_cut_is_written_again(file, context):
    append(make_event(id=3), context)
    append(make_event(id=4), context)
    file.write_bytes(file.read_bytes()[:-5])

    append(make_event(id=4), context)

    assert [3, 4] == [json.loads(line)["id"] for line in file.read_text().splitlines()]


def test_a_parked_event_that_is_retried_later_is_written(file, context):
    append(make_event(id=4, position=4), context)
    append(make_event(id=3, position=3), context)
    append(make_event(id=4, position=4), context)

    assert [4, 3] == [json.loads(line)["id"] for line in file.read_text().splitlines()]


def test_a_long_diary_is_read_from_its_end(file, context):
    for number in range(1, 9):
        append(make_event(id=number, data={"name": "x" * (LAST_BYTES // 3)}), context)
        append(make_event(id=number, data={"name": "x" * (LAST_BYTES // 3)}), context)

    assert [*range(1, 9)] == [json.loads(line)["id"] for line in file.read_text().splitlines()]


class TestService:
    @pytest.fixture
    def frepo_service_settings(self, file):
        return {"diary.file": str(file), "diary.kinds": "version.*, token.*"}

    def test_it_writes_what_happens(self, frepo_service, file):
        frepo_service.push(frepo_service.make_collection(), b"a dump")
        frepo_service.wait_for_subscribers()

        assert "version.added" in [json.loads(line)["kind"] for line in file.read_text().splitlines()]

    def test_its_settings_are_read(self, frepo_service, file):
        settings = frepo_service.context("diary").settings

        assert (file, ("version.*", "token.*")) == (settings.file, settings.kinds)
