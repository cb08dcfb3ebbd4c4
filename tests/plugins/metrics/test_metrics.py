"""`/metrics`: who may read it, what it counts, and that a failing collector fails alone."""

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from prometheus_client.core import GaugeMetricFamily
from sqlalchemy import insert, update

from frepo_core.db.models import Collection, Event, JobRun, JobState, ParkedEvent, StoredObject, Subscription, Version
from frepo_core.domain.roles import Role
from frepo_core.plugins import Collector, hang_watch
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_metrics.endpoint import format_metrics
from frepo_metrics.requests import UPLOADS, RequestMetrics, reason_of
from frepo_metrics.service_state import CollectionMetrics, ServiceMetrics
from support.logs.waiting import wait_for_text

from .conftest import CODE

NOW = datetime(2026, 11, 23, tzinfo=UTC)
PROMTOOL = shutil.which("promtool")


@pytest.fixture
def collection(services):
    return services.collections.create(CollectionChange(limits={}, filename="db.sql"), by=None).id


@pytest.fixture
def upload(app, make_token, collection):
    """Upload a version; return the answer."""
    token = make_token(Role.ADMINISTRATOR)

    def upload(body=b"content"):
        return app.post(f"/repository/collection/{collection}/backup?_token={token}", body, expect_errors=True)

    return upload


def test_it_needs_its_code_or_a_token_with_the_role(app, make_token):
    with_role, without = ({"X-Auth-Token": make_token(role)} for role in (Role.VIEW_METRICS, Role.VIEW_ANY_FILE))
    for query, headers, status in [
        ("", {}, 403),
        ("?code=other", {}, 403),
        ("", without, 403),
        (f"?code={CODE}", without, 200),
        ("", with_role, 200),
    ]:
        assert status == app.get(f"/metrics{query}", headers=headers, expect_errors=True).status_int, query
    answer = app.get(f"/metrics?code={CODE}")
    assert "text/plain; version=0.0.4; charset=utf-8" == answer.headers["Content-Type"]
    assert "frepo_build_info" in answer


class TestWithoutCode:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"metrics.code": "", "metrics.enabled": "true"}

    def test_the_role_is_the_only_access(self, app, make_token):
        statuses = [
            app.get(f"/metrics?code=&_token={make_token(role)}", expect_errors=True).status_int
            for role in (Role.VIEW_METRICS, Role.ADMINISTRATOR, Role.VIEW_ANY_FILE)
        ]

        assert [200, 200, 403] == statuses
        assert 403 == app.get("/metrics?code=", expect_errors=True).status_int
        assert 403 == app.get("/metrics", expect_errors=True).status_int

    def test_the_declaration_of_the_endpoint_names_the_permission(self, app):
        endpoints = {endpoint.path: endpoint for endpoint in app.app.registry.endpoints}

        assert "metrics.view" == endpoints["/metrics"].permission


class TestSwitchedOff:
    @pytest.fixture
    def ini(self, ini):
        return {name: value for name, value in ini.items() if name != "metrics.code"}

    def test_there_is_no_endpoint_and_no_observer(self, app, services, make_token):
        answer = app.get(f"/metrics?_token={make_token(Role.ADMINISTRATOR)}", expect_errors=True)

        assert (404, []) == (answer.status_int, services.request_observers)


def test_promtool_finds_no_fault(app, upload):
    if not PROMTOOL:
        pytest.skip("promtool (Debian package prometheus) is not installed")
    upload()
    app.get("/nothing", expect_errors=True)

    text = app.get(f"/metrics?code={CODE}").body

    done = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_requests_are_counted_by_route_and_status(app, scrape):
    app.get("/version?_token=", expect_errors=True)
    for _ in range(3):
        app.get("/")

    found = scrape()

    assert 3 == found("frepo_http_request_duration_seconds_count", route="/", method="GET", status="200")
    assert 3 == found("frepo_http_request_duration_seconds_bucket", route="/", le="+Inf")
    assert 1 == found("frepo_http_request_duration_seconds_count", route="/version", status="403")
    assert 1 == found("frepo_http_refusals_total", route="/version", reason="forbidden")
    assert found("frepo_http_sent_bytes_total", route="/") > 100


def test_an_unknown_path_makes_no_label(app, scrape):
    app.get("/etc/passwd", expect_errors=True)
    app.delete("/etc/passwd", expect_errors=True)

    found = scrape()

    assert 2 == found("frepo_http_request_duration_seconds_count", route="none", method="any", status="404")
    assert [] == [labels for _, labels in found.found if "passwd" in str(labels) or "DELETE" in str(labels)]


def test_accepted_uploads_are_counted_by_kind_and_with_their_bytes(app, scrape, upload, make_token):
    token = make_token(Role.UPLOAD_DOCUMENTS)
    assert (0, 0) == (scrape()("frepo_uploads_total", kind="version"), scrape()("frepo_uploads_total", kind="file"))
    upload(b"x" * 1000)
    upload(b"two")
    upload(b"")  # is refused
    app.post(f"/repository/file/upload?fileName=a.txt&_token={token}", b"text")
    app.post("/repository/file/a.txt", b"text", expect_errors=True)  # without a token
    found = scrape()
    assert (2, 1) == (found("frepo_uploads_total", kind="version"), found("frepo_uploads_total", kind="file"))
    route = "/repository/collection/{collection}/backup"
    assert 1003 == found("frepo_http_received_bytes_total", route=route)
    assert 2 == found("frepo_http_request_duration_seconds_count", route=route, status="200")


def test_every_endpoint_for_uploads_is_counted(app):
    endpoints = {
        endpoint.path
        for endpoint in app.app.registry.endpoints
        if endpoint.method == "POST" and endpoint.permission in {"file.upload", "version.upload"}
        if not endpoint.path.endswith(("/checks", "/runs"))  # a result is recorded, nothing is uploaded
    }

    assert endpoints == set(UPLOADS)


@pytest.mark.databases
def test_a_collection_has_its_versions_bytes_and_the_time_of_the_newest(scrape, upload, collection, services):
    upload(b"x" * 10)
    upload(b"y" * 20)

    found = scrape()

    newest = services.versions.list(collection)[-1].created_at
    assert (2, 30) == (found("frepo_collection_versions", collection=collection), found("frepo_collection_bytes"))
    assert newest.timestamp() == pytest.approx(found("frepo_collection_newest_timestamp_seconds", name="db.sql"))
    assert newest.timestamp() == pytest.approx(found("frepo_collection_newest_good_timestamp_seconds", name="db.sql"))
    assert {"good": 2, "pending": 0, "suspicious": 0, "broken": 0} == {
        verdict: found("frepo_versions_with_verdict", verdict=verdict)
        for verdict in ("good", "pending", "suspicious", "broken")
    }
    assert 1 == found("frepo_collection_state", collection=collection, state="ok")
    assert (1, 0) == tuple(found("frepo_collections_in_state", state=state) for state in ("ok", "overdue"))
    assert (1, 2, 30) == (found("frepo_collections"), found("frepo_versions"), found("frepo_versions_bytes"))


@pytest.mark.databases
def test_a_version_that_is_not_good_counts_as_such(scrape, upload, collection, services):
    upload(b"x" * 10)
    upload(b"y" * 20)
    good, broken = services.versions.list(collection)
    condemned = update(Version).where(Version.id == broken.id).values(verdict="broken", condemned_at=NOW)
    failed = update(Collection).values(failed_since=NOW, failed_reason="It cannot be restored")
    services.database.write(lambda session: (session.execute(condemned), session.execute(failed)))

    found = scrape()

    assert (1, 1) == tuple(found("frepo_versions_with_verdict", verdict=verdict) for verdict in ("good", "broken"))
    newest = found("frepo_collection_newest_good_timestamp_seconds", collection=collection)
    assert good.created_at.timestamp() == pytest.approx(newest)
    assert newest < found("frepo_collection_newest_timestamp_seconds", collection=collection)
    assert 1 == found("frepo_collections_in_state", state="failed")
    assert 1 == found("frepo_collection_state", collection=collection, state="failed")


@pytest.mark.databases
def test_damage_jobs_and_subscribers_are_counted(scrape, upload, services):
    upload()
    started = NOW - timedelta(hours=2)
    job = {"name": "verify", "schedule": "every 1h", "next_at": NOW, "failing_since": started, "reported_at": NOW}
    run = {"name": "verify", "lane": "long", "epoch": 1, "holder": "a", "cause": "schedule", "ended_at": NOW}
    good, failed = {"started_at": started, "error": None}, {"started_at": started + timedelta(hours=1), "error": "x"}
    event = {"kind": "token.created", "actor": "system:test", "data": {}, "at": NOW}
    subscription = {"epoch": 0, "tries": 0, "created_at": NOW}
    parked = {"subscription": "slow", "kind": "token.created", "tries": 12, "error": "x", "parked_at": NOW}

    def work(session):
        session.execute(update(StoredObject).values(state="damaged", since=NOW))
        session.execute(insert(JobState), [job])
        session.execute(insert(JobRun), [run | good, run | failed])
        session.execute(insert(Event), [event | {"position": position} for position in (11, 12, 13)])
        session.execute(
            insert(Subscription),
            [subscription | {"name": name, "position": position} for name, position in (("slow", 11), ("fast", 13))],
        )
        session.execute(insert(ParkedEvent), [parked | {"event_id": number} for number in (1, 2)])

    services.database.write(work)

    found = scrape()

    assert 1 == found("frepo_damaged_blobs")
    assert (2, 0) == (found("frepo_events_behind", subscriber="slow"), found("frepo_events_behind", subscriber="fast"))
    assert (2, 0) == (found("frepo_events_parked", subscriber="slow"), found("frepo_events_parked", subscriber="fast"))
    assert 1 == found("frepo_job_failing", name="verify")
    times = [
        found(f"frepo_job_{one}_timestamp_seconds", name="verify") for one in ("last_success", "last_started", "next")
    ]
    assert [NOW.timestamp() - hours * 3600 for hours in (2, 1, 0)] == times


def test_the_service_reports_its_state(scrape):
    found = scrape()

    assert found("frepo_storage_free_bytes", storage="local") is None or found("frepo_storage_free_bytes") > 0
    assert found("frepo_temporary_free_bytes") > 0
    assert (0, 0) == (found("frepo_damaged_blobs"), found("frepo_read_only"))
    assert 1 == found("frepo_build_info")
    assert found("process_resident_memory_bytes") > 0


def test_a_collector_that_fails_is_left_out_and_logged(services, caplog):
    class Broken:
        def collect(self):
            raise SystemExit("no")

    class Fine:
        def collect(self):
            yield GaugeMetricFamily("acme_boxes", "Boxes.", value=3)

    collectors = [Collector(origin="the plug-in 'acme'", collector=one) for one in (Broken(), Fine(), Fine())]

    text = b"".join(format_metrics(collectors, services.contexts["metrics"])).decode()

    assert "acme_boxes 3.0" in text
    assert 1 == text.count("# TYPE acme_boxes")
    assert 2 == caplog.text.count("a collector of the plug-in 'acme' is left out")
    assert "another collector has the metric 'acme_boxes'" in caplog.text


@pytest.mark.parametrize(
    ("collector", "told"),
    [
        (SimpleNamespace(collect=lambda: [3]), "collect() yielded 3, which is not a Metric of prometheus_client"),
        ("boxes", "the hook for metrics returned 'boxes', which has no method collect()"),
    ],
)
def test_a_collector_of_a_wrong_type_is_named_with_what_was_expected(services, caplog, collector, told):
    one = Collector(origin="the plug-in 'acme' of the package acme-paint 1.2.3", collector=collector)

    assert b"" == b"".join(format_metrics([one], services.contexts["metrics"]))
    assert "a collector of the plug-in 'acme' of the package acme-paint 1.2.3 is left out" in caplog.text
    assert told in caplog.text


def test_a_collector_that_hangs_is_named(services, caplog, monkeypatch):
    monkeypatch.setattr(hang_watch, "SECONDS", 0.05)
    named = "a collector of the plug-in 'acme' does not return"

    class Slow:
        def collect(self):
            wait_for_text(caplog, named)
            return []

    assert b"" == b"".join(
        format_metrics([Collector(origin="the plug-in 'acme'", collector=Slow())], services.contexts["metrics"])
    )


def test_counts_are_exact_with_threads():
    metrics = RequestMetrics()
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(lambda: [metrics.observe("GET", "/", 200, 0.002, 1, 2, "") for _ in range(1000)])

    families = {family.name: family for family in metrics.collect()}

    assert 4000 == families["frepo_http_received_bytes"].samples[0].value
    buckets = {
        sample.labels["le"]: sample.value
        for sample in families["frepo_http_request_duration_seconds"].samples
        if "le" in sample.labels
    }
    assert (0, 4000, 4000) == (buckets["0.001"], buckets["0.005"], buckets["+Inf"])


def test_a_reason_is_named_after_the_error():
    for error, reason in [
        ("CollectionFullError", "collection_full"),
        ("HTTPForbidden", "forbidden"),
        ("HTTPNotFound", "not_found"),
        ("StorageFull", "storage_full"),
    ]:
        assert reason == reason_of(error)


def test_it_says_when_a_version_is_expected(services, scrape):
    change = CollectionChange(limits={}, filename="db.sql", expected_every="1d")
    due_at = services.collections.create(change, by=None).due_at

    assert due_at.timestamp() == pytest.approx(scrape()("frepo_collection_due_timestamp_seconds", name="db.sql"))


def test_the_newest_collections_have_metrics_of_their_own_and_no_more_than_the_setting_says(services):
    for name in ("older.sql", "newer.sql"):
        services.collections.create(CollectionChange(limits={}, filename=name), by=None)
    for most in (0, 1, 2):
        versions, *_ = CollectionMetrics(services.contexts["metrics"].service, most).collect()
        assert ["newer.sql", "older.sql"][:most] == [sample.labels["name"] for sample in versions.samples]


@pytest.mark.parametrize("is_read_only", [False, True])
def test_read_only_mode_is_reported(services, is_read_only):
    statistics = services.contexts["metrics"].service.statistics
    service = SimpleNamespace(statistics=statistics, is_read_only=is_read_only)

    (found,) = (metric for metric in ServiceMetrics(service).collect() if metric.name == "frepo_read_only")

    assert [is_read_only] == [sample.value for sample in found.samples]
