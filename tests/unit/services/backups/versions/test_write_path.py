"""The way of an upload through the source: how often it goes from one file to another."""

import logging
import sys
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import pytest

import frepo_core
from frepo_core.services.content.ingest import Incoming

ROOT = str(Path(frepo_core.__file__).parent)
# Each change is a file that a reader of a trace has to open. The second release candidate had 195, but no verdicts and
# no second copies; with the write path spread over six files, there were 236.
MOST = 199


@pytest.fixture
def plain_log():
    """Make records of the log without `SafeRecord`: an earlier test in this process may have made it the factory."""
    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)
    yield
    logging.setLogRecordFactory(before)


@pytest.fixture
def changes(plain_log):
    """Count the calls, in this thread, of functions of frepo_core in another file than that of the call before.

    What a library calls back counts, too, such as the conversion of a time, and so does each step of a generator.
    """

    def changes(function):
        files = []

        def note(frame, event, argument):
            if event == "call" and frame.f_code.co_filename.startswith(ROOT):
                files.append(frame.f_code.co_filename)

        sys.setprofile(note)
        try:
            function()
        finally:
            sys.setprofile(None)
        return sum(one != other for one, other in pairwise(files))

    return changes


@pytest.mark.parametrize("size", [None, 8])
def test_an_upload_of_a_version_changes_file_seldom(services, sender, make_collection, push, changes, size):
    collection = make_collection(3)
    for content in (b"one", b"two", b"three", b"four"):
        push(collection, content)

    def add(content):
        record, incoming = services.collections.get(collection), Incoming(stream=BytesIO(content), declared_size=size)

        def add():
            with services.database.request(60):
                services.add_version.add(record, incoming, by=sender)

        return changes(add)

    # On a busy machine, an upload may ask the strategy twice.
    assert min(add(b"content" + bytes([number])) for number in range(3)) <= MOST
