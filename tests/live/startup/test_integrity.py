"""frepo-integrity in a service that runs as a process: uploads over a socket, and its job run by the worker."""

import json

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
