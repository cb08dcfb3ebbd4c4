"""An upload and a download of 4 GB, or of another size, whose bytes the page must not keep. Prints what it measures.

`.ci/full` runs it: `FREPO_TEST_BIG=1 .venv/bin/pytest -s tests/browser/test_large_transfers.py`. It needs three times
as much disk: 12 GB, or 30 GB with `FREPO_TEST_TRANSFER=10GB`.
"""

import os
import time

import pytest
from playwright.sync_api import expect

from support.browser.chromium import ARGUMENTS, PROGRAM
from support.browser.memory import browser_memory
from support.scale import only_in_long_form

from ..conftest import Console
from ..transfers.test_transfers import PICKER

pytestmark = only_in_long_form
MB = 1000 * 1000
SIZE = int(os.environ.get("FREPO_TEST_TRANSFER", "4GB").removesuffix("GB")) * 1000 * MB
SECONDS = 3600


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    """A service without limits."""
    service = make_service(
        tmp_path_factory.mktemp("large"),
        environment={"MAX_UPLOAD_SIZE": "0", "BACKUP_ONE_VERSION_MAX_SIZE": "0", "BACKUP_COLLECTION_MAX_SIZE": "0"},
    )
    service.start()
    yield service
    service.stop()


@pytest.fixture
def collection(api):
    return api("POST", "/collections", {"name": "large.bin"})["id"]


@pytest.fixture
def page(chromium, service, collection, tmp_path):
    """The collection in a browser with a profile: without one, the browser keeps the files of a page in its memory."""
    kind = chromium.browser_type
    context = kind.launch_persistent_context(tmp_path / "profile", executable_path=PROGRAM, args=ARGUMENTS)
    context.add_init_script(PICKER)
    console = Console(context.new_page(), service.url)
    console.sign_in(service.admin, f"#/collections/{collection}")
    yield console.page
    context.close()
    assert [] == console.complaints


class Memory:
    """The memory of the largest page, and of all processes of the browser, while something runs, in bytes."""

    def __init__(self):
        self.first = browser_memory()
        self.most = dict(self.first)

    def watch(self, page, text, timeout=SECONDS):
        """Sample until the text is shown."""
        deadline = time.monotonic() + timeout
        while not page.get_by_text(text).count():
            assert time.monotonic() < deadline, page.locator("main").inner_text()
            page.wait_for_timeout(250)
            for name, size in browser_memory().items():
                self.most[name] = max(self.most[name], size)

    @property
    def grown(self):
        return {name: (self.most[name] - self.first[name]) / MB for name in self.most}


def test_gigabytes_do_not_grow_the_page(page, tmp_path):
    source = tmp_path / "large.bin"
    with source.open("wb") as file:  # sparse: the bytes are zeros, and need no disk
        file.truncate(SIZE)
    for action in ("upload", "download"):
        memory, start = Memory(), time.monotonic()
        if action == "upload":
            page.get_by_role("button", name="Upload").click()
            page.set_input_files("input[type=file]", source)
        else:
            page.get_by_role("button", name="Download version 1").click()
        memory.watch(page, "Complete, the SHA-256 is right")
        seconds = time.monotonic() - start
        print(f"\n{action} of {SIZE / MB:.0f} MB in {seconds:.0f} s; grown by {memory.grown} MB from {memory.first}")
        assert memory.grown["renderer"] < 100
        page.get_by_role("button", name="Remove large").click()
    saved = """async () => {
      const root = await navigator.storage.getDirectory();
      const { size } = await (await root.getFileHandle("large-v1.bin")).getFile();
      await root.removeEntry("large-v1.bin");
      return size;
    }"""
    assert SIZE == page.evaluate(saved)
    expect(page.locator("tbody tr")).to_have_count(1)
