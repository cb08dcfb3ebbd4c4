"""The job takes at most half a processor in all, and most of that in a process of low priority."""

import os
import re
import resource
import time
from datetime import timedelta

import pytest

from frepo_core.db.types import simulated_time
from frepo_core.features.compact import compaction, encoder_process
from frepo_core.features.compact.encoder_process import NICENESS, EncoderProcess
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.compact.processor_share import ProcessorShare
from support.encodings.nights import nights
from support.paths import ROOT

ROWS = 100_000
MOST_NICENESS = 19  # of Linux
DOCUMENTED = (ROOT / "docs/compact.md").read_text()


def used():
    """Seconds of processor time of this thread and of the processes that it has started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.thread_time() + children.ru_utime + children.ru_stime


@pytest.mark.costly
def test_the_job_takes_half_a_processor_at_most(history, services):
    collection = history.make()
    for content in nights(6, ROWS):
        history.push(collection, content)

    with simulated_time(history.time + timedelta(hours=8)):
        began, before = time.monotonic(), used()
        report = services.feature(CompactServices).compaction.run(keep_going=lambda: None)
        taken, passed = used() - before, time.monotonic() - began

    assert (5, 0) == (report.encoded, report.failed)
    assert taken <= passed / 2


def test_the_process_has_the_priority_that_is_documented(monkeypatch):
    monkeypatch.setattr(encoder_process, "NICENESS", NICENESS)

    with EncoderProcess() as process:
        pid = process._started().pid
        own, end = os.getpriority(os.PRIO_PROCESS, 0), time.monotonic() + 60
        while (found := os.getpriority(os.PRIO_PROCESS, pid)) == own and time.monotonic() < end:
            time.sleep(0.01)

    assert min(own + int(re.search(r"niceness of (\d+)", DOCUMENTED)[1]), MOST_NICENESS) == found


def test_the_lease_is_kept_while_the_job_pauses(services, monkeypatch):
    """A large object takes seconds to store: the job pauses as long, and may be ended then."""
    calls = []

    class Pausing(ProcessorShare):
        def __call__(self):
            self._waiting()

    monkeypatch.setattr(compaction, "ProcessorShare", Pausing)
    services.feature(CompactServices).compaction.run(keep_going=lambda: calls.append("check"))

    assert ["check"] == calls


@pytest.mark.costly
def test_storing_everything_raw_again_has_the_same_share_and_process(history, services, monkeypatch):
    collection, shares, tasks, encode = history.make(), [], [], EncoderProcess.encode
    for _ in range(3):
        history.push(collection)
    history.job()

    class Noted(ProcessorShare):
        def __call__(self):
            shares.append(self._share)

    def note(self, task, keep_going):
        keep_going()
        tasks.append(task.is_raw)
        return encode(self, task, keep_going)

    monkeypatch.setattr(compaction, "ProcessorShare", Noted)
    monkeypatch.setattr(EncoderProcess, "encode", note)
    services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)

    assert [True, True] == tasks
    assert {encoder_process.SHARE} == set(shares)
    assert ["raw"] * 3 == history.encodings(collection)
    history.check()
