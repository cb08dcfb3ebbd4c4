"""A real Prometheus scrapes a real service, and answers each expression of the dashboard and of the alert rules."""

import contextlib
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from support.paths import ROOT
from support.servers.processes import free_port
from support.wire import Client

from .conftest import CODE

DEPLOY = ROOT / "deploy"
PROMETHEUS = shutil.which("prometheus")
CONFIG = """\
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files: ["{rules}"]
scrape_configs:
  - job_name: frepo
    params:
      code: [{code}]
    static_configs:
      - targets: ["{address}"]
"""
# A subscriber with events to deliver; its port is closed.
TARGET = "hook json://127.0.0.1:9/"

pytestmark = pytest.mark.skipif(not PROMETHEUS, reason="prometheus (Debian package) is not installed")


class Prometheus:
    """Asks a Prometheus at this address."""

    def __init__(self, address):
        self.address = address

    def get(self, path, **parameters):
        """Return the answer of its API."""
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"http://{self.address}/api/v1/{path}?{query}", timeout=20) as answer:
            return json.load(answer)

    def samples(self, expression):
        """Return the samples of an expression. Raises `HTTPError` if it cannot be parsed."""
        answer = self.get("query", query=expression)
        assert "success" == answer["status"]
        return answer["data"]["result"]

    def rules(self):
        """Return the rules with their health."""
        return [rule for group in self.get("rules")["data"]["groups"] for rule in group["rules"]]

    def is_ready(self):
        """Whether it has scraped the service a few times, and evaluated the rules."""
        try:
            scrapes = self.samples("sum(count_over_time(frepo_read_only[1m]))")
            return int(scrapes[0]["value"][1]) > 2 and all(rule["health"] != "unknown" for rule in self.rules())
        except (OSError, LookupError):
            return False


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory, make_service):
    """A Prometheus that scrapes a service with a version and a subscriber, which has refused a request."""
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "service").mkdir()
    service = make_service(folder / "service", environment={"METRICS_CODE": CODE, "NOTIFY_TARGETS": TARGET})
    service.start()
    client = Client(service)
    assert 200 == client.push(client.collection(filename="db.sql"), b"a dump").status
    address, config = f"127.0.0.1:{free_port()}", folder / "prometheus.yml"
    config.write_text(CONFIG.format(code=CODE, address=service.address, rules=DEPLOY / "prometheus/frepo.rules.yml"))
    options = [f"--config.file={config}", f"--storage.tsdb.path={folder}/data", f"--web.listen-address={address}"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([PROMETHEUS, *options], stdout=log, stderr=log)
    try:
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(f"{service.url}/nothing", timeout=20)
        prometheus, deadline = Prometheus(address), time.monotonic() + 60
        while not prometheus.is_ready():
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.3)
        yield prometheus
    finally:
        process.kill()
        process.wait()
        service.stop()


@pytest.mark.costly
def test_each_expression_of_the_dashboard_is_answered(prometheus):
    panels = json.loads((DEPLOY / "grafana/frepo.json").read_text())["panels"]
    expressions = {target["expr"] for panel in panels for target in panel["targets"]}

    assert len(expressions) > 10
    assert set() == {expression for expression in expressions if not prometheus.samples(expression)}


def test_no_panel_of_the_dashboard_hides_another():
    panels = json.loads((DEPLOY / "grafana/frepo.json").read_text())["panels"]
    cells = [
        (place["x"] + x, place["y"] + y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["w"])
        for y in range(place["h"])
    ]

    assert len(panels) == len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels})
    assert len(cells) == len(set(cells))
    assert 24 > max(x for x, _ in cells)


@pytest.mark.costly
def test_each_alert_rule_is_evaluated(prometheus):
    rules = prometheus.rules()

    assert len(rules) > 5
    assert [] == [(rule["name"], rule["lastError"]) for rule in rules if rule["health"] != "ok"]


def test_a_wrong_expression_would_be_found(prometheus):
    with pytest.raises(urllib.error.HTTPError):
        prometheus.samples("sum by (status (rate(frepo_versions[5m]))")
