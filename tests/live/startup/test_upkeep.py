"""A real service does its upkeep by schedule, without a crontab and without any setting."""

import os
import time

import pytest

from frepo_core.domain.naming import new_blob_key
from support.wire import Client, eventually

CODE = "a-code"


@pytest.mark.costly
def test_a_service_sweeps_and_verifies_by_schedule_and_says_so_in_health(start_service):
    schedules = {"JOBS_SWEEP": "every 2s", "JOBS_VERIFY": "every 2s", "JOBS_SAMPLES": "every 2s"}
    service = start_service(HEALTH_CHECK_CODE=CODE, **schedules)
    client = Client(service)
    for number in range(5):
        client.request("POST", f"/repository/file/upload?fileName={number}.txt", b"content %d" % number)
    orphan = service.storage / new_blob_key("ab" * 32)
    orphan.parent.mkdir(exist_ok=True)
    orphan.write_bytes(b"orphan")
    os.utime(orphan, (time.time() - 3 * 86_400,) * 2)
    service.frepo("storage:adopt", "--yes")  # the orphan is older than the mark, and kept for 30 days

    def look():
        reply = client.request("GET", f"/health?code={CODE}", token=False)
        jobs = reply.json["jobs"]
        ended = [name for name in ("sweep", "verify", "samples") if jobs.get(name, {}).get("outcome") == "good"]
        return reply.status, ended, (jobs["sweep"]["found"] or {}).get("kept"), orphan.exists()

    expected = (200, ["sweep", "verify", "samples"], 1, True)
    assert expected == eventually(expected, look, seconds=40)
