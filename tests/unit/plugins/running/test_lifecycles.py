"""What the service does with the lifecycles of plug-ins, and when it closes storages."""

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import Lifecycle, StorageSettings, StorageSpec
from frepo_core.testing import MemoryStorage

ORIGIN = "the plug-in 'acme' of the package acme-paint 1.2.3"


def fail(*_):
    raise RuntimeError("no paint\nleft")


def leave(*_):
    raise SystemExit(3)


class TestLifecycles:
    def test_they_start_in_order_and_stop_in_reverse(self, assembled):
        calls = []

        def lifecycle(name):
            return Lifecycle(
                start=lambda context: calls.append(f"start {name}"), stop=lambda context: calls.append(f"stop {name}")
            )

        services = assembled({"lifecycles": [lifecycle("one")]}, {"lifecycles": [lifecycle("two")]})
        for _ in range(2):
            services.service_time.start()
        for _ in range(2):
            services.service_time.stop()

        assert ["start one", "start two", "stop two", "stop one"] == calls

    @pytest.mark.parametrize(("start", "reason"), [(fail, "RuntimeError: no paint left"), (leave, "SystemExit: 3")])
    def test_one_that_cannot_start_stops_the_others_and_names_its_package(self, assembled, start, reason):
        calls = []
        services = assembled(
            {"lifecycles": [Lifecycle(stop=lambda context: calls.append("stopped"))]},
            {"lifecycles": [Lifecycle(start=start, stop=lambda context: calls.append("never"))]},
        )

        with pytest.raises(ConfigurationError, match=f"'acme1' of the package acme-paint.* cannot start: {reason}"):
            services.service_time.start()

        assert ["stopped"] == calls

    @pytest.mark.parametrize("stop", [fail, leave])
    def test_one_that_cannot_stop_is_logged_and_the_others_stop(self, assembled, stop, caplog):
        calls = []
        services = assembled(
            {"lifecycles": [Lifecycle(stop=lambda context: calls.append("stopped"))]},
            {"lifecycles": [Lifecycle(stop=stop)]},
        )
        services.service_time.start()

        services.service_time.stop()

        assert ["stopped"] == calls
        assert "the plug-in 'acme1' of the package acme-paint 1.2.3 did not stop" in caplog.text


class Crate(MemoryStorage):
    """Counts how often it is closed, and fails if the test wants that."""

    def __init__(self, closed, failure=None):
        super().__init__()
        self._closed = closed
        self._failure = failure

    def close(self):
        self._closed.append(self)
        if self._failure:
            raise self._failure


@pytest.mark.parametrize("failure", [None, OSError("gone"), RuntimeError("bug"), ConnectionResetError("cut")])
def test_a_storage_is_closed_at_the_end(assembled, ini, caplog, failure):
    closed = []
    spec = StorageSpec(name="crate", settings=StorageSettings, build=lambda settings: Crate(closed, failure))
    ini = {name: value for name, value in ini.items() if name != "fs.local.directory"} | {"fs.adapter": "crate"}
    services = assembled({"storages": [spec]}, ini=ini)
    services.service_time.start()

    services.service_time.stop()

    assert 1 == len(closed)
    assert (failure is not None) == (f"the storage 'crate' ({ORIGIN}) failed in close()" in caplog.text)


def test_a_storage_without_close_needs_none(assembled):
    services = assembled()
    services.service_time.start()

    services.service_time.stop()

    assert services.backends.get("local").close() is None
