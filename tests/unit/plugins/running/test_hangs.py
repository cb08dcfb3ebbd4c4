"""What a plug-in does not return from is named in the log: the service may wait for it for ever."""

import sys
from types import SimpleNamespace

import pytest

from frepo_core.plugins import Lifecycle, hang_watch
from frepo_core.plugins.registry import PluginRegistry
from support.logs.waiting import wait_for_text

ORIGIN = "the plug-in 'acme' of the package acme-paint 1.2.3"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(hang_watch, "SECONDS", 0.05)


def test_a_start_and_a_stop_that_hang(assembled, caplog):
    services = assembled(
        {
            "lifecycles": [
                Lifecycle(
                    start=lambda context: wait_for_text(caplog, f"the start of {ORIGIN} does not return"),
                    stop=lambda context: wait_for_text(caplog, f"the stop of {ORIGIN} does not return"),
                )
            ]
        }
    )
    services.service_time.start()
    services.service_time.stop()

    assert f"the stop of {ORIGIN} ended after 0 seconds" in caplog.text


def test_an_import_and_a_hook_that_hang(install, caplog, monkeypatch):
    module = SimpleNamespace(until=lambda text: wait_for_text(caplog, text))
    monkeypatch.setitem(sys.modules, "acme_waits", module)
    install(
        "acme-paint",
        "acme",
        """
        import acme_waits
        from frepo_core.plugins import hookimpl

        acme_waits.until("the import of the plug-in 'acme' of the package acme-paint does not return")

        @hookimpl
        def frepo_jobs():
            acme_waits.until("frepo_jobs of the plug-in 'acme' of the package acme-paint does not return")
            return []
        """,
    )
    PluginRegistry.from_entry_points()

    assert "the import of the plug-in 'acme' of the package acme-paint does not return" in caplog.text
    assert "frepo_jobs of the plug-in 'acme' of the package acme-paint does not return" in caplog.text
