"""Debian's Chromium, driven by Playwright, against a real service. A test fails if the console logs an error."""

import json
import shutil
import sqlite3
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-proxy-server", "--no-first-run"]
# Reports each violation of the policy, also of those that the browser does not log.
WATCH = "window.violations = []; addEventListener('securitypolicyviolation', (event) => violations.push(event.violatedDirective))"
XSS = "<img src=x onerror=\"alert('xss')\">'\"><script>alert(1)</script>"
LABEL = "<svg onload=alert(1)>"
# The collection with the texts that must not become elements. A name of a file cannot have their characters.
NAME = "evil.sql.gz"
WIDTHS = {"wide": 1300, "phone": 390}


@pytest.fixture(scope="session")
def chromium():
    """The browser, started once."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
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
        page.on("console", self._record)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _record(self, message):
        if message.type in {"error", "warning"} and not any(one in message.text for one in self.expected):
            self.complaints.append(message.text)

    def expect(self, *texts):
        """Allow the browser to log these texts, such as the status of a refused request."""
        self.expected = texts

    def sign_in(self, token, fragment="#/"):
        self.page.goto(f"{self.url}#token={token}")
        self.page.wait_for_selector("nav.side")
        self.go(fragment)

    def go(self, fragment):
        """Open a view, and wait until it has its heading and its data."""
        self.page.evaluate("(fragment) => { location.hash = fragment }", fragment)
        self.page.wait_for_selector("main h1")
        self.page.wait_for_load_state("networkidle")

    def violations(self):
        """What axe finds in the page as it is, in short."""
        found = Axe().run(self.page).response["violations"]
        return [(one["id"], node["target"]) for one in found for node in one["nodes"]]


@pytest.fixture
def open_console(chromium, service):
    """Open the console in a browser of its own: `open_console(width="phone", theme="dark")`."""
    opened = []

    def open_console(width="wide", theme="light", **more):
        context = chromium.new_context(
            viewport={"width": WIDTHS[width], "height": 900},
            color_scheme=theme,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
            **more,
        )
        context.add_init_script(WATCH)
        console = Console(context.new_page(), service.url)
        opened.append((context, console))
        return console

    yield open_console
    for context, console in opened:
        violations = console.page.evaluate("window.violations")
        context.close()
        assert ([], []) == (console.complaints, violations)


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
