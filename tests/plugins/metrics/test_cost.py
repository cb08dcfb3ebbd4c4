"""Counting requests takes little of their processor time. `benchmarks/metrics.py` measures it with the server."""

import gc
import statistics
import time

import pytest
from webtest import TestApp, TestRequest

from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.web import make_app

# The goal is 5 % of a request. Here a request has no server, whose part takes longer than the application's.
TARGET = 1.10
SAMPLES = 10
PAIRS = 60  # of requests in a sample, by turns


@pytest.mark.costly
def test_the_application_takes_hardly_longer_with_metrics(services, open_services, ini, tmp_path):
    """The median of ten ratios. A request is handled in this thread, whose processor time the kernel counts.

    Both services answer by turns, and each sample compares medians: what else the machine does slows single requests.
    """
    (tmp_path / "without").mkdir()
    without = open_services(tmp_path / "without", ini | {"metrics.code": ""})
    works = [_download(services), _download(without)]
    assert (1, 0) == (len(services.request_observers), len(without.request_observers))

    gc.disable()
    try:
        ratios = [_sample(works) for _ in range(SAMPLES + 1)][1:]
    finally:
        gc.enable()
        without.database.engine.dispose()

    assert TARGET >= statistics.median(ratios), ratios


def _sample(works):
    """Return the median of a request with metrics, divided by that of one without."""
    times = ([], [])
    for number in range(PAIRS):
        for which in (0, 1) if number % 2 else (1, 0):
            started = time.thread_time_ns()
            works[which]()
            times[which].append(time.thread_time_ns() - started)
    return statistics.median(times[0]) / statistics.median(times[1])


def _download(services):
    """Upload a file; return a function that downloads it with a token: without one, the answer comes from memory."""
    app = make_app(services)
    token = services.tokens.generate(NewToken(roles=[Role.UPLOAD_ALL], expires="never")).id
    added = TestApp(app).post("/repository/file/upload?fileName=a.bin", b"x" * 4096, headers={"X-Auth-Token": token})
    path, headers = f"/repository/file/{added.json['filename']}", {"X-Auth-Token": token}
    environ = TestRequest.blank(path, headers=headers).environ
    statuses = set()

    def work():
        body = app(dict(environ), lambda status, headers, failure=None: statuses.add(status))
        sent = b"".join(body)
        assert (4096, {"200 OK"}) == (len(sent), statuses)

    return work
