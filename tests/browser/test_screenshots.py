"""`make screenshots` takes a picture of a view when it has its data, also of a slow one."""

import time

import pytest

from support import screenshots

from .conftest import WIDTHS

SLOW_SECONDS = 0.4  # longer than the 200 ms after which the lines in the place of the data are drawn


class SlowBrowser:
    """A browser to which the service answers slowly."""

    def __init__(self, browser):
        self._browser = browser

    def new_context(self, **options):
        context = self._browser.new_context(**options)
        context.route("**/api/v1/**", self._answer)
        return context

    def _answer(self, route):
        time.sleep(SLOW_SECONDS)
        route.continue_()


@pytest.mark.costly
def test_a_slow_view_has_its_data_in_the_picture(chromium, service, api, tmp_path, monkeypatch):
    guards = {"min_version_size": 10, "on_suspicious": "mark"}
    made = api("POST", "/collections", {"name": "small.sql", "guards": guards})["id"]
    api("PUT", f"/collections/{made}/versions", b"small")
    monkeypatch.setattr(screenshots, "VIEWS", {"tokens": "#/tokens", "overview": "#/"})
    monkeypatch.setattr(screenshots, "LOOKS", {"": ({"width": WIDTHS["wide"], "height": 860}, "light")})

    taken = [path.name for path in screenshots._take_all(SlowBrowser(chromium), service, tmp_path)]

    assert ["tokens.png", "overview.png"] == taken
