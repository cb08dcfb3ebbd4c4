"""Takes pictures of each view of the web console with the data of the demonstration: `make screenshots`.

All are written to the folder of the first argument. Those that the documentation shows are in `docs/screenshots`.
"""

import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from support.browser.chromium import launch
from support.demonstration import fill_service
from support.servers.service import Service
from support.wire import eventually

WIDE, PHONE = {"width": 1300, "height": 860}, {"width": 390, "height": 844}
# The fragment of each view. `{...}` is the id of the collection with this state, or of the first file.
VIEWS = {
    "overview": "#/",
    "collections": "#/collections",
    "collection": "#/collections/{suspicious}",
    "files": "#/files",
    "tokens": "#/tokens/new",
    "events": "#/events?group=trouble",
    "health": "#/health",
}
SETTLE = 1000  # milliseconds in which names and pictures arrive
LOOKS = {"": (WIDE, "light"), "-dark": (WIDE, "dark"), "-phone": (PHONE, "light")}


def main(folder: Path) -> None:
    """Fill a service, take all pictures, and print their names."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as state, sync_playwright() as playwright:
        service = Service(Path(state))
        service.frepo("install")
        fill_service(service)
        service.start()
        # What has arrived is read from events, which a worker numbers before anybody sees them.
        with sqlite3.connect(Path(state) / "frepo.db") as database:
            eventually((0,), lambda: database.execute("SELECT count(*) FROM event WHERE position IS NULL").fetchone())
        browser = launch(playwright)
        try:
            for path in _take_all(browser, service, folder):
                print(f"{path} {path.stat().st_size // 1000} kB")
        finally:
            browser.close()
            service.stop()


def _take_all(browser: Browser, service: Service, folder: Path) -> Iterator[Path]:
    for suffix, (size, theme) in LOOKS.items():
        context = browser.new_context(
            viewport=size, color_scheme=theme, locale="en-GB", timezone_id="UTC", reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto(f"{service.url}/ui/#token={service.admin}")
        page.wait_for_selector("nav.side")
        headers = {"Authorization": f"Bearer {service.admin}"}
        found = context.request.get(f"{service.url}/api/v1/collections?state=suspicious", headers=headers).json()
        for name, fragment in VIEWS.items():
            page.evaluate(
                "(fragment) => { location.hash = fragment }", fragment.format(suspicious=found["items"][0]["id"])
            )
            page.wait_for_selector("main h1")
            page.wait_for_selector("main :is(.list, tbody, .tiles, .gal)")
            page.wait_for_load_state("networkidle")
            page.wait_for_selector("main .skel", state="detached")  # no code as text, which the page's policy refuses
            page.wait_for_timeout(SETTLE)
            page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
            path = folder / f"{name}{suffix}.png"
            page.screenshot(path=path)
            yield path
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
