"""Waits for a text in the log, in place of a function that hangs."""

import time

SECONDS = 60


def wait_for_text(caplog, text):
    """Return once the log of the test has this text."""
    deadline = time.monotonic() + SECONDS
    while text not in caplog.text:
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
