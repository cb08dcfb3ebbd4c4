"""No text of a client begins a line of the log, or commands the terminal that shows it."""

import io
import logging

import pytest

from frepo_core.errors import BlobDamaged, DatabaseUnavailableError, StorageFull, StorageUnavailable
from frepo_core.services.base.log_records import log_safely

EVIL = "a\n2030-01-01 ERROR fake \x1b[2J\u009b"


@pytest.fixture
def logged():
    """Return what a logger wrote, with the formatter that is used by default."""
    before, log, text = logging.getLogRecordFactory(), logging.getLogger("test.safe"), io.StringIO()
    handler = logging.StreamHandler(text)
    log_safely()
    log.addHandler(handler)
    yield lambda: log and text.getvalue()
    log.removeHandler(handler)
    logging.setLogRecordFactory(before)


@pytest.mark.parametrize("value", [EVIL, OSError(EVIL)], ids=["text", "error"])
def test_a_value_stays_in_its_line(logged, value):
    logging.getLogger("test.safe").warning("refused: %s by %d", value, 5)

    assert "refused: a\\n2030-01-01 ERROR fake \\x1b[2J\\u009b by 5\n" == logged()


def test_named_values_are_escaped(logged):
    logging.getLogger("test.safe").warning("refused: %(name)s", {"name": EVIL})

    assert ["refused: a\\n2030-01-01 ERROR fake \\x1b[2J\\u009b"] == logged().splitlines()


def test_the_text_of_an_error_in_a_traceback_begins_no_line(logged):
    try:
        raise ValueError(EVIL)
    except ValueError:
        logging.getLogger("test.safe").exception("it failed")

    first, *others = logged().splitlines()
    assert ("it failed", []) == (first, [line for line in others if not line.startswith("  ")])
    assert "\x1b" not in logged()


@pytest.mark.parametrize("kind", [DatabaseUnavailableError, StorageFull, StorageUnavailable])
def test_an_outage_is_one_line_with_its_cause(logged, kind):
    try:
        raise kind(EVIL) from OSError(EVIL)
    except kind:
        logging.getLogger("test.safe").exception("it failed")

    shown = "a\\n2030-01-01 ERROR fake \\x1b[2J\\u009b"
    cause = "a 2030-01-01 ERROR fake \\x1b[2J\\u009b"
    assert f"it failed: {kind.__name__}: {shown} (OSError: {cause})\n" == logged()


@pytest.mark.parametrize("kind", [BlobDamaged, KeyError])
def test_damage_and_bugs_keep_their_traceback(logged, kind):
    try:
        raise kind("b")
    except kind:
        logging.getLogger("test.safe").exception("it failed")

    assert "  Traceback (most recent call last):" in logged().splitlines()
