"""What frepo expects of an upload check, as tests that the check's own tests inherit."""

import hashlib
import io
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, BinaryIO, cast

import pytest

from frepo_core.plugins import (
    CheckResult,
    CollectionInfo,
    Finding,
    JobContext,
    PluginContext,
    Service,
    UploadCheck,
    UploadedContent,
)
from frepo_core.plugins.checks.upload_check import check_deadline, check_on_finding

OUTCOMES = {"good", "pending", "not checked"}


class GivenContent:
    """An `UploadedContent` in memory."""

    def __init__(
        self, data: bytes, *, mime_type: str = "application/octet-stream", collection: CollectionInfo | None = None
    ) -> None:
        self._data = data
        self.size = len(data)
        self.sha256 = hashlib.sha256(data).hexdigest()
        self.mime_type = mime_type
        self.file_name = collection.name if collection else "dump"
        self.collection = collection

    def open(self) -> BinaryIO:
        """Open the content at its start."""
        return io.BytesIO(self._data)


def make_context(settings: Any = None, service: Service | None = None) -> PluginContext:
    """Return a context for tests that call a function of a plug-in without a service."""
    return PluginContext(settings=settings, service=cast(Service, service), log=logging.getLogger("frepo.testing"))


def make_job_context(
    settings: Any = None,
    service: Service | None = None,
    *,
    now: datetime | None = None,
    check_lease: Callable[[], None] = lambda: None,
    progress: Callable[[str], None] = lambda text: None,
) -> JobContext:
    """Return a context for tests that call `run` of a job without a service. `now` (aware) is by default the real time.

    Give a `check_lease` that raises `LeaseLost` to test that the job stops then.
    """
    return JobContext(
        settings=settings,
        service=cast(Service, service),
        log=logging.getLogger("frepo.testing"),
        now=now or datetime.now(UTC),
        check_lease=check_lease,
        progress=progress,
    )


class UploadCheckContract:
    """Inherit it, and override the fixtures `check`, `good` and `broken`; `context` if the check uses its context."""

    @pytest.fixture
    def check(self) -> UploadCheck:
        """Return the check."""
        raise NotImplementedError("Override the fixture `check` of the contract of upload checks")

    @pytest.fixture
    def good(self) -> bytes:
        """Return a content that the check finds good."""
        raise NotImplementedError("Override the fixture `good` of the contract of upload checks")

    @pytest.fixture
    def broken(self) -> bytes:
        """Return a content that the check finds broken."""
        raise NotImplementedError("Override the fixture `broken` of the contract of upload checks")

    @pytest.fixture
    def unknown(self) -> bytes | None:
        """Return a content that the check knows nothing about; None if it checks every content."""
        return b"\x00unknown\xff" * 3

    @pytest.fixture
    def context(self) -> PluginContext:
        """Return the context that the check gets."""
        return make_context()

    @pytest.fixture
    def collection(self) -> CollectionInfo:
        """Return the collection of the contents."""
        return CollectionInfo(id="8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a", name="dump")

    def test_a_good_content_is_good(
        self, check: UploadCheck, good: bytes, context: PluginContext, collection: CollectionInfo
    ) -> None:
        """A whole content is `good`, or `pending` if a job checks it."""
        result = check.run(_as_content(GivenContent(good, collection=collection)), context)

        assert isinstance(result, CheckResult)
        assert result.outcome in {"good", "pending"}

    def test_a_broken_content_is_a_finding(
        self, check: UploadCheck, broken: bytes, context: PluginContext, collection: CollectionInfo
    ) -> None:
        """A broken content raises a `Finding` with a message and details that JSON can express."""
        with pytest.raises(Finding) as caught:
            check.run(_as_content(GivenContent(broken, collection=collection)), context)

        assert caught.value.message.strip()
        json.dumps(caught.value.details)

    def test_an_unknown_content_is_never_good(
        self, check: UploadCheck, unknown: bytes | None, context: PluginContext, collection: CollectionInfo
    ) -> None:
        """What the check does not know is `not checked`, not `good`, and no finding."""
        if unknown is None:
            pytest.skip("the check checks every content")
        result = check.run(_as_content(GivenContent(unknown, collection=collection)), context)

        assert "not checked" == result.outcome

    def test_a_file_without_a_collection_is_checked(
        self, check: UploadCheck, good: bytes, context: PluginContext
    ) -> None:
        """`collection` is None for files, if the check applies to them."""
        if "files" not in check.applies_to:
            pytest.skip("the check applies to versions alone")

        assert check.run(_as_content(GivenContent(good)), context).outcome in OUTCOMES

    def test_a_repeated_check_says_the_same(
        self, check: UploadCheck, good: bytes, context: PluginContext, collection: CollectionInfo
    ) -> None:
        """A check keeps no state: it is called for many uploads, by many threads."""
        content = GivenContent(good, collection=collection)

        first, second = (check.run(_as_content(content), context).outcome for _ in range(2))

        assert first == second

    def test_what_follows_a_finding_is_valid(self, check: UploadCheck, context: PluginContext) -> None:
        """`on_finding` is None or a value that frepo knows, or a function of the settings that returns one."""
        chosen = check.on_finding(context.settings) if callable(check.on_finding) else check.on_finding

        assert chosen is None or check_on_finding(chosen)

    def test_the_deadline_is_valid(self, check: UploadCheck, context: PluginContext) -> None:
        """`deadline` is a number of seconds above 0, or a function of the settings that returns one."""
        chosen = check.deadline

        assert check_deadline(chosen(context.settings) if callable(chosen) else chosen)


def _as_content(content: GivenContent) -> UploadedContent:
    return content
