"""The alert rules, the dashboard and the documentation name metrics that exist."""

import json
import re
import subprocess
from datetime import UTC, datetime

import pytest
from sqlalchemy import insert

from frepo_core.db.models import Installation, JobRun, JobState, ParkedEvent, Subscription
from frepo_core.services.backups.rows.collection_change import CollectionChange
from support.paths import ROOT

from .conftest import CODE
from .test_metrics import PROMTOOL

NOW = datetime(2026, 11, 23, tzinfo=UTC)
METRIC = re.compile(r"\b(?:frepo|process)_[a-z_]+\b")


@pytest.fixture
def names(app, services, make_token):
    """The names of all samples of a service that has one of everything."""
    services.collections.create(CollectionChange(limits={}, filename="db.sql"), by=None)
    job = {"name": "verify", "schedule": "every 1h", "next_at": NOW, "failing_since": NOW, "reported_at": NOW}
    run = {"name": "verify", "lane": "long", "epoch": 1, "holder": "a", "cause": "schedule", "started_at": NOW}
    subscription = {"name": "a", "position": 0, "epoch": 1, "tries": 0, "created_at": NOW}
    parked = {"subscription": "a", "event_id": 1, "kind": "job.failed", "tries": 12, "error": "x", "parked_at": NOW}

    def work(session):
        for model, row in ((JobState, job), (JobRun, run), (Subscription, subscription), (ParkedEvent, parked)):
            session.execute(insert(model), [row])
        session.execute(insert(Installation), [{"name": "compact.figures", "value": '{"encoded": 1}'}])

    services.database.write(work)
    app.get("/nothing", expect_errors=True)
    text = app.get(f"/metrics?code={CODE}").text
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")} | set(METRIC.findall(text))


def test_every_metric_is_documented_and_no_other(names):
    documented = set(re.findall(r"^\| `(frepo_\w+)`", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE))
    parts = ("_bucket", "_count", "_sum")

    assert documented == {name for name in names if name.startswith("frepo_") and not name.endswith(parts)}


def test_the_rules_and_the_dashboard_name_metrics_that_exist(names):
    rules = (ROOT / "deploy/prometheus/frepo.rules.yml").read_text()
    panels = json.loads((ROOT / "deploy/grafana/frepo.json").read_text())["panels"]
    queries = " ".join([rules, *(target["expr"] for panel in panels for target in panel["targets"])])

    assert set() == set(METRIC.findall(queries)) - names


@pytest.mark.costly
@pytest.mark.skipif(not PROMTOOL, reason="promtool (Debian package prometheus) is not installed")
def test_promtool_accepts_the_files():
    for command in [
        ("test", "rules", "frepo.rules.test.yml"),
        ("check", "rules", "frepo.rules.yml"),
        ("check", "config", "prometheus.yml"),
    ]:
        done = subprocess.run(
            [PROMTOOL, *command], cwd=ROOT / "deploy/prometheus", capture_output=True, text=True, check=False
        )

        assert 0 == done.returncode, done.stdout + done.stderr
