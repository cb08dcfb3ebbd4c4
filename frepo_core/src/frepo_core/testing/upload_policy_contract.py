"""What frepo expects of a policy, as tests that the policy's own tests inherit."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from frepo_core.plugins import CollectionInfo, PluginContext, PolicyRefusal, PolicyRequest, UploadPolicy

from .upload_check_contract import make_context

AT = datetime(2024, 2, 27, 3, tzinfo=UTC)  # a Tuesday
SECONDS = 2.0


def make_policy_request(action: str = "upload", **more: Any) -> PolicyRequest:
    """Make a request about a collection. `more` are other fields, such as `at`."""
    values: dict[str, Any] = {
        "action": action,
        "collection": CollectionInfo(id="8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a", name="dump.sql"),
        "version": None if action == "upload" else 3,
        "size": None if action == "delete" else 5,
        "takes_last_good": False,
        "actor": "0a1b2c3d4e5f",
        "actor_name": "nightly",
        "address": "192.0.2.1",
        "at": AT,
    }
    return PolicyRequest(**values | more)


class UploadPolicyContract:
    """Inherit it, and override the fixtures `policy`, `allowed` and `refused`; `context` if it uses its context."""

    @pytest.fixture
    def policy(self) -> UploadPolicy:
        """Return the policy."""
        raise NotImplementedError("Override the fixture `policy` of the contract of policies")

    @pytest.fixture
    def allowed(self) -> PolicyRequest:
        """Return a request that the policy allows."""
        raise NotImplementedError("Override the fixture `allowed` of the contract of policies")

    @pytest.fixture
    def refused(self) -> PolicyRequest:
        """Return a request that the policy refuses."""
        raise NotImplementedError("Override the fixture `refused` of the contract of policies")

    @pytest.fixture
    def context(self) -> PluginContext:
        """Return the context that the policy gets."""
        return make_context()

    def test_it_is_asked_about_these_requests(
        self, policy: UploadPolicy, allowed: PolicyRequest, refused: PolicyRequest
    ) -> None:
        """The policy names the actions of these tests."""
        assert {allowed.action, refused.action} <= {*policy.actions}

    def test_it_allows_by_returning_none(
        self, policy: UploadPolicy, allowed: PolicyRequest, context: PluginContext
    ) -> None:
        """Another result counts as a failure of the policy."""
        decide: Callable[..., object] = policy.decide

        assert decide(allowed, context) is None

    def test_it_refuses_with_a_reason_in_one_line(
        self, policy: UploadPolicy, refused: PolicyRequest, context: PluginContext
    ) -> None:
        """People read the reason in an answer and in the log."""
        with pytest.raises(PolicyRefusal) as caught:
            policy.decide(refused, context)

        assert caught.value.reason.strip()
        assert [caught.value.reason] == caught.value.reason.splitlines()

    def test_it_decides_in_time(
        self, policy: UploadPolicy, allowed: PolicyRequest, refused: PolicyRequest, context: PluginContext
    ) -> None:
        """The client waits meanwhile."""
        started = time.monotonic()
        for request in (allowed, refused):
            _decide(policy, request, context)

        assert time.monotonic() - started < 2 * SECONDS

    def test_it_decides_about_a_request_of_which_little_is_known(
        self, policy: UploadPolicy, context: PluginContext
    ) -> None:
        """Each field that may be None or empty may be so."""
        for action in policy.actions:
            bare = make_policy_request(
                action,
                collection=CollectionInfo(id="", name=""),
                version=None,
                size=None,
                actor="console:root",
                actor_name="",
                address="",
            )
            _decide(policy, bare, context)


def _decide(policy: UploadPolicy, request: PolicyRequest, context: PluginContext) -> None:
    """Ask the policy. Its refusal is an answer, any other exception is not."""
    try:
        policy.decide(request, context)
    except PolicyRefusal:
        return
