"""Debian's Chromium, driven by Playwright, against a real service. A test fails if the console logs an error."""

import json
import sqlite3
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Error, expect, sync_playwright

from support.browser.chromium import MISSING, launch

# Reports each violation of the policy, also of those that the browser does not log.
WATCH = """window.violations = [];
addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective))"""
# Whoever scrolls reaches what the bar of a phone covers now.
VIOLATIONS = """async () => {
  const options = { resultTypes: ["violations"], rules: { "target-size": { enabled: true } } };
  const bar = document.querySelector("nav.side")?.getBoundingClientRect() ?? new DOMRect();
  const isCovered = (target) => {
    const { top, bottom, left, right } = document.querySelector(target).getBoundingClientRect();
    return bottom > bar.top && top < bar.bottom && right > bar.left && left < bar.right;
  };
  return (await axe.run(options)).violations.flatMap(({ id, nodes }) => nodes
    .filter(({ target }) => id !== "target-size" || !isCovered(target[0]))
    .map(({ target }) => [id, target]));
}"""
XSS = "<img src=x onerror=\"alert('xss')\">'\"><script>alert(1)</script>"
LABEL = "<svg onload=alert(1)>"
# The collection with the texts that must not become elements. A name of a file cannot have their characters.
NAME = "evil.sql.gz"
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
WIDTHS = {"wide": 1300, "phone": 390}
FRAME = "new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))"
# Leaves nothing of a test in a tab: neither the session with its transfers, nor preferences and saved files.
FORGET = """async () => {
  const { signOut } = await import(document.querySelector("script[type=module]").src.replace("main.js", "lib/api.js"));
  signOut();
  localStorage.clear();
  delete document.documentElement.dataset.theme;
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) await root.removeEntry(name);
}"""


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    if MISSING:
        pytest.skip(MISSING)
    expect.set_options(timeout=30_000)  # milliseconds; other tests run at the same time
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    service = make_service(tmp_path_factory.mktemp("console"), environment={"MAX_UPLOAD_SIZE": "0"})
    service.start()
    yield service
    service.stop()


class Api:
    """The second API of a service, called with an administrator's token."""

    def __init__(self, service):
        self._service = service

    def __call__(self, method, path, body=None, headers=None, token=None):
        """Send JSON, or bytes as they are; return the parsed answer."""
        is_raw = isinstance(body, bytes)
        data = body if is_raw or body is None else json.dumps(body).encode()
        kind = {"Content-Type": "application/octet-stream" if is_raw else "application/json"}
        request = urllib.request.Request(
            f"{self._service.url}/api/v1{path}",
            data,
            {"Authorization": f"Bearer {token or self._service.admin}", **kind, **(headers or {})},
            method=method,
        )
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or "null")

    def token(self, *roles, **more):
        """Create a token; return its secret."""
        return self("POST", "/tokens", {"roles": list(roles), "expires_at": None, **more})["secret"]


@pytest.fixture(scope="module")
def api(service):
    return Api(service)


@pytest.fixture(scope="module")
def world(service, api):
    """Five collections in different states, with versions; return their ids by name."""
    ids = {}
    for name in ("shop.sql.gz", "mail.tar", "late.tar", "empty.zip", NAME):
        body = {"name": name, "labels": ["prod"], "expected_every": "P1D"}
        if name == NAME:
            body |= {"description": XSS, "labels": [LABEL]}
        ids[name] = api("POST", "/collections", body)["id"]
    for name in ("shop.sql.gz", "mail.tar", "late.tar", NAME):
        for number in (1, 2, 3):
            api("PUT", f"/collections/{ids[name]}/versions", name.encode() * 100 * number)
    long_ago = datetime.now(UTC) - timedelta(days=3)
    with sqlite3.connect(service.folder / "frepo.db") as database:
        due = [(long_ago + timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M:%S.%f") for hours in (0, 24, 26)]
        database.execute("UPDATE version SET created_at = ? WHERE collection_id = ?", (due[0], ids["mail.tar"]))
        database.execute(
            "UPDATE collection SET arrived_at = ?, due_at = ?, overdue_at = ? WHERE id = ?", (*due, ids["mail.tar"])
        )
    database.close()
    return ids


def open_collection(console, world, name, tab=""):
    console.go(f"#/collections/{world[name]}{tab and '/' + tab}")
    return console.page


class Console:
    """A page of the console, with what the browser complained about."""

    def __init__(self, page, url):
        self.page = page
        self.url = f"{url}/ui/"
        self.complaints = []
        self.expected = ()
        self._running = set()
        self._listeners = {
            "console": self._record,
            "pageerror": self._record_error,
            "request": self._start,
            "requestfinished": self._end,
            "requestfailed": self._end,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)

    def stop(self):
        """Listen no more: the tab is for the next test."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _record(self, message):
        if message.type in {"error", "warning"} and not any(one in message.text for one in self.expected):
            self.complaints.append(message.text)

    def _record_error(self, error):
        self.complaints.append(str(error))

    def _start(self, request):
        self._running.add(request)

    def _end(self, request):
        self._running.discard(request)

    def expect(self, *texts):
        """Allow the browser to log these texts, such as the status of a refused request."""
        self.expected = texts

    def sign_in(self, token, fragment="#/"):
        """Sign in by a link, and open a view."""
        self.page.goto(f"{self.url}#token={token}")
        self.page.wait_for_selector("nav.side, dialog")
        if (replace := self.page.get_by_role("button", name="Sign in with the link")).count():
            replace.click()
        self.go(fragment)
        self.page.wait_for_selector("nav.side")

    def go(self, fragment):
        """Open a view, and wait until it has its heading and its data."""
        self.page.evaluate("(fragment) => { location.hash = fragment }", fragment)
        self.page.wait_for_selector("main h1")
        self.settle()

    def settle(self):
        """Wait until no request runs, and what arrived is drawn."""
        deadline, quiet = time.monotonic() + 30, 0
        while quiet < 2:
            assert time.monotonic() < deadline, [one.url for one in self._running]
            self.page.evaluate(FRAME)
            quiet = 0 if self._running else quiet + 1

    def violations(self):
        """What axe finds in the page as it is, in short."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
        return self.page.evaluate(VIOLATIONS)


class Tabs:
    """The tabs of a module. A tab is used again, as to start one takes longer than most tests."""

    def __init__(self, chromium):
        self._chromium = chromium
        self._contexts = {}
        self._free = {}

    def take(self, key, script, options):
        """Return a tab of a browser with these options, in which the script runs before each page."""
        if self._free.get(key):
            return self._free[key].pop()
        if key not in self._contexts:
            self._contexts[key] = self._chromium.new_context(
                locale="en-GB", timezone_id="UTC", reduced_motion="reduce", **options
            )
            self._contexts[key].set_default_timeout(90_000)  # milliseconds; other tests run at the same time
            self._contexts[key].add_init_script(WATCH)
            if script:
                self._contexts[key].add_init_script(script)
        return self._contexts[key].new_page()

    def give_back(self, key, page):
        """Keep the tab for the next test."""
        try:
            page.evaluate(FORGET)
        except Error:  # it shows something else than the console
            page.close()
        else:
            self._free.setdefault(key, []).append(page)

    def close(self, key=None):
        """Close the browser of a key, or all."""
        for one in [key] if key else list(self._contexts):
            self._contexts.pop(one).close()


@pytest.fixture(scope="module")
def tabs(chromium):
    tabs = Tabs(chromium)
    yield tabs
    tabs.close()


@pytest.fixture
def open_console(tabs, service):
    """Open the console in a tab: `open_console(width="phone", theme="dark")`.

    With `is_first` its browser has not loaded anything yet. `script` runs before those of the page.
    """
    opened = []

    def open_console(width="wide", theme="light", script="", is_first=False, **more):
        key = (object() if is_first else None, script, repr(more))
        page = tabs.take(key, script, more)
        page.set_viewport_size({"width": WIDTHS[width], "height": 900})
        page.emulate_media(color_scheme=theme)
        console = Console(page, service.url)
        opened.append((console, key))
        return console

    yield open_console
    for console, key in opened:
        page = console.page
        console.stop()
        page.unroute_all(behavior="ignoreErrors")
        page.context.set_offline(False)
        problems = (console.complaints, page.evaluate("window.violations"))
        if key[0] or problems != ([], []):
            tabs.close(key)
        else:
            tabs.give_back(key, page)
        assert ([], []) == problems


@pytest.fixture
def console(open_console):
    return open_console()


@pytest.fixture
def signed_in(console, service):
    """The console with an administrator's token."""
    console.sign_in(service.admin)
    return console


@pytest.fixture(scope="session")
def pages():
    """The folder of the console's files."""
    import frepo_console

    return Path(frepo_console.__file__).parent / "pages"
