"""frepo-integrity in a service that runs as a process: uploads over a socket, and its job run by the worker."""

import json

import pytest

from support.compressors import COMPRESSORS, rows
from support.wire import Client, eventually

DATA = rows(30_000)


def test_cut_backups_are_quarantined_refused_or_found_by_the_job(start_service):
    """Uploads over 4 kB are left to the job, which runs every second here."""
    service = start_service(INTEGRITY_XZ="refuse", INTEGRITY_INLINE_LIMIT="4kB", JOBS_INTEGRITY_DEEP="every 1s")
    client = Client(service)
    collection = client.collection(filename="db.sql.gz")

    def outcomes():
        rows = json.loads(service.frepo("backup:checks", collection, "-f", "json"))
        return [row["Outcome"] for row in rows]

    small, large = COMPRESSORS["gzip"]["gzip"](DATA[:5000]), COMPRESSORS["gzip"]["gzip"](DATA)
    assert client.push(collection, small[:-100]).json["version"]["quarantined"]
    assert "broken" == outcomes()[0]
    refused = client.push(collection, COMPRESSORS["xz"]["xz"](DATA)[:-100])
    assert (400, 4017) == (refused.status, refused.json["error_code"])
    assert [200, 200] == [client.push(collection, content).status for content in (large, large[:-100])]

    expected = ["broken", "good", "broken"]
    assert expected == eventually(expected, outcomes, seconds=30)


@pytest.mark.costly
def test_nights_without_a_worker_and_a_check_that_hangs_evict_no_newest_good_version(start_service):
    """First no worker runs, then one whose check never ends: `sleep` reads large contents. Patience is a second."""
    nights = {"INTEGRITY_INLINE_LIMIT": "4kB", "CHECKS_PATIENCE": "1s", "WORKER_IN_PROCESS": "false"}
    hangs = {
        "INTEGRITY_COMMAND": "type:application/gzip = sleep 600",
        "INTEGRITY_DEEP_SECONDS": "600",
        "INTEGRITY_SQL": "off",
    }
    jobs = {"JOBS_INTEGRITY_DEEP": "every 1s", "JOBS_UNJUDGED": "every 1s"}
    service = start_service(**nights, **jobs)
    client = Client(service)
    collection = client.collection(3, filename="db.sql.gz")
    good = [COMPRESSORS["gzip"]["gzip"](DATA[: 4000 + number]) for number in range(3)]
    dump = b"-- MySQL dump 10.13  Distrib 8.0.36\n" + DATA
    cut = [COMPRESSORS["gzip"]["gzip"](dump[: -100 - number]) for number in range(11)]
    for content in (*good, *cut[:8]):
        assert 200 == client.push(collection, content).status

    def versions():
        path = f"/api/v1/collections/{collection}/versions?sort=number&limit=50"
        return [(one["number"], one["verdict"]) for one in client.request("GET", path).json["items"]]

    assert [(1, "whole"), (2, "whole"), (3, "whole"), (10, "pending"), (11, "pending")] == versions()

    service.stop()
    service.environment |= hangs | {"WORKER_IN_PROCESS": "true"}
    service.start()
    # The newest good one is outside the limit.
    expected = [(2, "whole"), (3, "whole"), (10, "pending"), (11, "pending")]
    assert expected == eventually(expected, versions, seconds=60)
    for content in cut[8:]:
        assert 200 == client.push(collection, content).status
    assert (3, "whole") in versions() and len(versions()) <= 3 + 1 + 2
    assert 3 == client.request("GET", f"/api/v1/collections/{collection}/versions/good").json["number"]

    service.stop()  # a check that hangs does not hold up the end
    service.environment |= {"INTEGRITY_COMMAND": "", "CHECKS_PATIENCE": "1d", "INTEGRITY_SQL": ""}
    service.start()
    assert eventually(True, lambda: "pending" not in dict(versions()).values(), seconds=60)
    assert (3, "whole") in versions()
    assert {"whole", "broken"} == {verdict for _, verdict in versions()}
    latest = client.request("GET", f"/api/v1/collections/{collection}/versions/latest").json
    assert 3 == latest["number"]
