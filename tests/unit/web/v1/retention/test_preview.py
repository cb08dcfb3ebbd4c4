"""The preview of the retention: the collection's versions or an imagined schedule, under rules that are not saved."""

import pytest
from sqlalchemy import update

from frepo_core.db.models import Version
from frepo_core.domain.roles import Role
from frepo_core.features.preview import preview as previews
from frepo_core.features.preview import simulation
from support.client import with_settings

COLLECTIONS = "/api/v1/collections"
KEEP = {"strategy": "keep"}
NO_RULES = dict.fromkeys(("last", "hourly", "daily", "weekly", "monthly", "yearly"), 0)
START = "2026-01-01T02:00:00Z"
NIGHTS = {"every": "P1D", "duration": "P30D", "size": 100, "start": START}


@pytest.fixture
def path(collection):
    return f"{COLLECTIONS}/{collection}"


@pytest.fixture
def push(root, path):
    def push(*contents):
        for content in contents:
            root.call("PUT", f"{path}/versions", body=content)

    return push


@pytest.fixture
def preview(root, path):
    return lambda **body: root.post(f"{path}/retention/preview", body)


def kept(answer):
    return [version["number"] for version in answer.json["versions"] if version["kept"]]


def test_without_a_schedule_the_next_upload_is_previewed(push, preview):
    push(b"one", b"two", b"three")
    answer = preview(limits={"versions": 2})

    assert (answer.status_int, kept(answer)) == (200, [3, 4])
    shown = answer.json["versions"][0]
    assert shown.pop("at") <= shown.pop("evicted_at")
    assert shown == {
        "number": 1,
        "size": 3,
        "imagined": False,
        "kept": False,
        "rules": [],
        "protection": None,
        "evicted_by": 4,
        "cause": "room",
    }


def test_a_schedule_is_previewed_with_the_storage_of_each_day(preview):
    answer = preview(**KEEP, schedule=NIGHTS, empty=True)

    assert kept(answer) == [11, 18, 24, 25, 26, 27, 28, 29, 30]
    assert answer.json["days"][-1].items() >= {"day": "2026-01-30", "versions": 9, "size": 900}.items()
    assert answer.json["peak"]["size"] == 1000
    assert (answer.json["complete"], answer.json["refused"], answer.json["start"]) == (True, [], START)


def test_the_storage_of_each_day_has_the_trash(preview):
    answer = preview(limits={"versions": 2}, schedule=NIGHTS)

    assert [day["trash_size"] for day in answer.json["days"]][:10] == [0, 0, 100, 200, 300, 400, 500, 600, 700, 700]
    assert answer.json["peak"].items() >= {"size": 200, "trash_size": 700}.items()


def test_what_is_in_the_trash_needs_storage_until_its_time_is_over(root, path, push, preview):
    push(b"one", b"four")
    root.call("DELETE", f"{path}/versions/v1")
    schedule = {"duration": "P9D", "size": 100}

    assert [day["trash_size"] for day in preview(schedule=schedule).json["days"]] == [3] * 7 + [0, 0]
    assert {day["trash_size"] for day in preview(schedule=schedule, empty=True).json["days"]} == {0}


def test_the_same_question_has_the_same_answer(root, path, push, preview):
    push(b"one", b"two")
    root.call("PATCH", f"{path}/versions/v1", json={"pinned": True})
    question = {**KEEP, "limits": {"versions": 9}, "schedule": NIGHTS}

    assert preview(**question).json == preview(**question).json


def test_a_restored_version_is_kept_until_its_protection_ends(root, path, push, preview):
    for empty in [False, True]:
        push(b"one", b"two")
        root.call("DELETE", f"{path}/versions/v1")
        root.post(f"{path}/trash/1/restore", None)
        rules = {"limits": {"versions": 2}, "empty": empty}

        assert kept(preview(**rules, schedule={"duration": "P6D", "size": 10})) == ([5, 6] if empty else [1, 8])
        assert kept(preview(**rules, schedule={"duration": "P9D", "size": 10})) == ([8, 9] if empty else [10, 11])


def test_nothing_is_saved(root, path, push, preview):
    push(b"one", b"two")
    before = root.get(path).json, root.get(f"{path}/versions").json
    preview(**KEEP, strategy_options={"last": 1}, limits={"versions": 1}, schedule=NIGHTS)

    assert before == (root.get(path).json, root.get(f"{path}/versions").json)


def test_the_preview_and_the_uploads_decide_the_same(root, path, push, preview):
    push(b"one", b"two", b"three")
    rules = {"strategy": "keep", "strategy_options": NO_RULES | {"last": 2}}
    foreseen = kept(preview(**rules))
    root.call("PATCH", path, json=rules, headers={"Content-Type": "application/merge-patch+json"})
    push(b"four")

    assert foreseen == sorted(version["number"] for version in root.get(f"{path}/versions").json["items"])


def test_the_size_of_the_newest_version_is_the_default(push, preview):
    push(b"four")
    answer = preview(schedule={"duration": "P2D", "start": START})

    assert [version["size"] for version in answer.json["versions"]] == [4, 4, 4]


def test_a_schedule_of_an_empty_collection_needs_a_size(preview):
    answer = preview(schedule={"duration": "P2D"})

    assert (answer.status_int, answer.json["errors"][0]["field"]) == (400, "schedule.size")


@pytest.mark.parametrize(("column", "protection"), [("pinned", "pinned"), ("quarantined_at", "quarantined")])
def test_versions_that_the_strategy_does_not_see_are_kept(services, push, preview, column, protection):
    push(b"one", b"two")
    with services.database.engine.begin() as connection:
        value = True if column == "pinned" else Version.created_at
        connection.execute(update(Version).where(Version.number == 1).values({column: value}))
    shown = preview(**KEEP, strategy_options=NO_RULES | {"last": 1}).json["versions"]

    assert [(version["number"], version["kept"], version["protection"]) for version in shown] == [
        (1, True, protection),
        (2, False, None),
        (3, True, None),
    ]


def test_refused_uploads_have_their_error(preview):
    answer = preview(strategy="alert_when_backup_limit_reached", limits={"versions": 29}, schedule=NIGHTS)

    assert answer.json["refused"] == [
        {
            "at": "2026-01-30T02:00:00Z",
            "size": 100,
            "code": 4000,
            "message": "The limit of versions is 29: delete one, or raise the limit, up to the setting "
            "backup.max_versions",
        }
    ]


def test_a_wrong_field_is_named(preview):
    for body, field in [
        ({"schedule": {"every": "P1D", "duration": "P20000D", "size": 1}}, "schedule.duration"),
        ({"schedule": {"every": "sometimes", "size": 1}}, "schedule.every"),
        ({"schedule": {"growth": 1000, "size": 1}}, "schedule.growth"),
        ({"schedule": {"growth": False, "size": 1}}, "schedule.growth"),
        ({"schedule": {"growth": "5", "size": 1}}, "schedule.growth"),
        ({"schedule": {"every": "P10D", "duration": "P36000D", "size": 10**18, "growth": 100}}, "schedule.growth"),
        ({"schedule": {"every": "P10D", "duration": "P700D", "size": 10**18, "growth": 100}}, "schedule.growth"),
        ({"schedule": {"duration": "P3D", "size": 1, "start": "9999-12-29T00:00:00Z"}}, "schedule.duration"),
        ({"schedule": {"duration": "PT0S", "size": 1}}, "schedule.duration"),
        ({"strategy": "hope"}, "strategy"),
        ({"strategy": "keep", "strategy_options": {"daily": -1}}, "strategy_options.daily"),
        ({"limits": {"versions": -1}}, "limits.versions"),
    ]:
        answer = preview(**body)

        assert (answer.status_int, answer.json["errors"][0]["field"]) == (400, field)


@pytest.fixture
def while_simulated(root, path):
    """Call something after each upload of a preview, then say whether its client is gone; return the answer."""

    def while_simulated(act):
        environ = {"waitress.client_disconnected": act}
        body = {**KEEP, "schedule": NIGHTS}
        return root.call("POST", f"{path}/retention/preview", json=body, environ=environ)

    return while_simulated


def test_a_token_has_one_preview_at_a_time(preview, while_simulated):
    others = []
    answer = while_simulated(lambda: others.append(preview()))

    assert (200, {429}) == (answer.status_int, {each.status_int for each in others})
    assert (4292, "2") == (others[0].json["code"], others[0].headers["Retry-After"])
    assert 200 == preview().status_int


@pytest.mark.costly
def test_a_process_has_two_previews_at_a_time(holder, path, preview, while_simulated):
    one, two = holder(Role.ADMINISTRATOR), holder(Role.ADMINISTRATOR)
    third = []

    def second():
        ask = {"waitress.client_disconnected": lambda: third.append(two.post(f"{path}/retention/preview", {}))}
        return one.call("POST", f"{path}/retention/preview", json={}, environ=ask).status_int != 200

    assert while_simulated(second).json["complete"]
    assert {429} == {answer.status_int for answer in third}


def test_a_preview_ends_when_its_client_is_gone(while_simulated):
    answer = while_simulated(lambda: True)

    assert (False, 1) == (answer.json["complete"], len(answer.json["days"]))


def test_a_preview_has_some_processor_time(preview, monkeypatch):
    monkeypatch.setattr(simulation, "MAX_SECONDS", 0.0)
    answer = preview(**KEEP, schedule=NIGHTS)

    assert (False, 1) == (answer.json["complete"], len(answer.json["days"]))


def test_a_preview_has_at_most_so_many_versions(push, preview, monkeypatch):
    monkeypatch.setattr(previews, "MAX_VERSIONS", 2)
    push(b"one", b"two")

    assert [200, 400] == [preview(empty=empty).status_int for empty in (True, False)]
    push(b"three")
    assert (400, "empty") == ((answer := preview()).status_int, answer.json["errors"][0]["field"])


def test_a_token_that_may_not_list_versions_sees_no_preview(holder, path):
    assert holder(Role.UPLOAD_VERSIONS).post(f"{path}/retention/preview", {}).status_int == 403


@with_settings(backup__one_version_max_size="0", backup__collection_max_size="0")
def test_sizes_beyond_what_a_number_holds_are_shown_as_the_largest(preview):
    answer = preview(**KEEP, schedule=NIGHTS | {"duration": "P3D", "size": 2**63 - 1}, empty=True)

    assert 200 == answer.status_int
    assert 2**63 - 1 == answer.json["peak"]["size"]
