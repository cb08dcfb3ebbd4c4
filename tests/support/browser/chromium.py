"""Debian's Chromium, for tests and screenshots.

Its headless shell has the same engine, but no windows and no services of its own: the tests take two thirds of the
time. The long form runs in the browser that people use.
"""

import shutil

from playwright.sync_api import Browser, Playwright

from support.scale import IS_BIG

_PROGRAMS = ("chromium", "chromium-headless-shell") if IS_BIG else ("chromium-headless-shell", "chromium")
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-proxy-server", "--no-first-run"]
PROGRAM = next((path for name in _PROGRAMS if (path := shutil.which(name))), None)
MISSING = None if PROGRAM else "chromium is not installed: make services"


def launch(playwright: Playwright) -> Browser:
    """Start the browser. It runs until it is closed."""
    return playwright.chromium.launch(executable_path=PROGRAM, args=ARGUMENTS)
