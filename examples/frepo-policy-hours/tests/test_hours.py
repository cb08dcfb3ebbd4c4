"""The policy keeps its contract, and its hours."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.testing import UploadPolicyContract, make_context, make_policy_request
from frepo_policy_hours import HoursSettings, frepo_upload_policies
from frepo_policy_hours.hours import parse_hours

TUESDAY = datetime(2024, 2, 27, tzinfo=UTC)


class TestContract(UploadPolicyContract):
    @pytest.fixture
    def context(self):
        return make_context(HoursSettings())

    @pytest.fixture
    def policy(self, context):
        return frepo_upload_policies(context)[0]

    @pytest.fixture
    def allowed(self):
        return make_policy_request("delete", at=TUESDAY + timedelta(hours=8))

    @pytest.fixture
    def refused(self):
        return make_policy_request("delete", at=TUESDAY + timedelta(hours=18))


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("08:00-18:00", [8, 17]),
        ("mon-fri 08:00-18:00", [8, 17]),
        ("22:00-06:00", [0, 5, 22, 23]),
        ("tue-tue 22:00-06:00", [22, 23]),
        ("sun-mon 22:00-06:00", [0, 5]),
        ("sat-sun 00:00-23:59", []),
    ],
)
def test_the_hours_are_those_of_the_setting(text, hours):
    hour = timedelta(hours=1)
    watched = (0, 5, 6, 7, 8, 17, 18, 21, 22, 23)

    assert hours == [number for number in watched if parse_hours(text).include(TUESDAY + number * hour)]


@pytest.mark.parametrize("text", ["8-18", "08:00", "08:00-25:00", "mon-som 08:00-18:00", ""])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"write e\.g\.|hours|hour must be"):
        HoursSettings(hours=text)


def test_the_time_zone_counts():
    settings = HoursSettings(hours="08:00-18:00", time_zone="Asia/Tokyo")

    assert settings.hours.include((TUESDAY + timedelta(hours=23)).astimezone(settings.time_zone))


class TestService:
    @pytest.fixture
    def frepo_service_settings(self):
        now = datetime.now(UTC)
        later = [f"{(now + timedelta(hours=hours)):%H:%M}" for hours in (6, 7)]
        return {"hours.actions": "upload, delete", "hours.hours": "-".join(later)}

    def test_a_version_is_refused_outside_the_hours(self, frepo_service):
        answer = frepo_service.push(frepo_service.make_collection(), b"a dump")

        assert (400, 4025) == (answer.status, answer.json["error_code"])
        assert "this service is open from" in answer.json["context"]["message"]

    def test_what_is_not_named_is_allowed(self, frepo_service):
        collection = frepo_service.make_collection()

        assert 404 == frepo_service.request("GET", f"/api/v1/collections/{collection}/versions/v1").status
