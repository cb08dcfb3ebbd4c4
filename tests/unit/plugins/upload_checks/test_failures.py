"""An upload check that fails, or that cannot be used."""

import threading

import pytest

from frepo_core import assemble
from frepo_core.errors import ConfigurationError
from frepo_core.plugins import CheckResult

ORIGIN = "the check 'paint' (the plug-in 'acme' of the package acme-paint 1.2.3)"


def leave(content, context):
    raise SystemExit(3)


def test_a_setting_for_findings_that_does_not_exist_stops_the_start(ini, plugins):
    with pytest.raises(ConfigurationError) as caught:
        assemble(ini | {"acme.on_finding": "loudly"}, {}, plugins).build_all()

    values = "off, mark, quarantine or refuse"
    expected = (ORIGIN, "'loudly'", "Setting acme.on_finding (ACME_ON_FINDING)", values)
    assert [] == [text for text in expected if text not in str(caught.value)]


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda content, context: 1 / 0, "ZeroDivisionError"),
        (leave, "SystemExit"),
        (lambda content, context: None, "returned None, which is not a CheckResult"),
        (lambda content, context: CheckResult(outcome="fine"), "'fine'"),
        (lambda content, context: content.open().seek(-1), "before the start"),
    ],
)
def test_a_check_that_fails_is_logged_and_the_content_accepted(root, collection, painter, caplog, act, reason):
    painter.act = act

    answer = root.push(collection, b"a dump")

    failures = [record for record in caplog.records if ORIGIN in record.getMessage()]
    assert (200, 1) == (answer.status_int, len(failures))
    assert reason in caplog.text


def test_an_interrupt_that_a_check_raises_does_not_end_a_thread_of_the_service(root, collection, painter, caplog):
    def interrupt(content, context):
        raise KeyboardInterrupt

    painter.act = interrupt
    answers = []
    thread = threading.Thread(target=lambda: answers.append(root.push(collection, b"a dump")))
    thread.start()
    thread.join()

    assert [200] == [answer.status_int for answer in answers]
    assert ORIGIN in caplog.text
