"""Uploads and downloads: cancelled, cut, corrupted, several at once, to disk and by a link."""

import hashlib
import random
import signal

import pytest
from playwright.sync_api import expect

from support.reliability.faulty_proxy import FaultyProxy

from ..conftest import Console

MIB = 1024 * 1024
CONTENT = random.Random(7).randbytes(4 * MIB)
# Chromium's dialog is replaced by the private file system of the page: the stream to disk is the same.
PICKER = """window.showSaveFilePicker = async ({ suggestedName }) =>
  (await navigator.storage.getDirectory()).getFileHandle(suggestedName, { create: true })"""
NO_PICKER = "delete window.showSaveFilePicker"
SAVED = """async (name) => {
  const file = await (await (await navigator.storage.getDirectory()).getFileHandle(name)).getFile();
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [file.size, Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")];
}"""
# Read a file of which each stream gives so many bytes, and then nothing, without an end. Return whether all bytes came
# in their order, and how often it was opened, or the error.
READ_SILENT = """async ([size, given]) => {
  const main = document.querySelector("script[type=module]").src;
  const { readFile } = await import(main.replace("main.js", "lib/pieces.js"));
  const content = Uint8Array.from({ length: size }, (_, at) => at % 251);
  let opened = 0;
  let read = 0;
  const stream = (at) => {
    opened += 1;
    const start = (controller) => void (given && controller.enqueue(content.slice(at, at + given)));
    return new ReadableStream({ type: "bytes", start });
  };
  const file = { size, slice: (at) => ({ stream: () => stream(at) }) };
  try {
    await readFile(file, (bytes) => bytes.forEach((byte) => (read += byte === read % 251)), 20);
  } catch (error) {
    return error.message;
  }
  return [read === size, opened];
}"""
COMPLETE = "Complete, the SHA-256 is right"
LOST = "The connection was lost"


@pytest.fixture(scope="module")
def proxy(service):
    with FaultyProxy(service.address) as proxy:
        yield proxy


@pytest.fixture
def collection(api):
    return api("POST", "/collections", {"name": "dump.bin"})["id"]


@pytest.fixture
def open_through_proxy(open_console, service, proxy, collection):
    """Open the collection with a script that decides where downloads are saved."""

    def open_through_proxy(script=PICKER):
        console = open_console(script=script)
        console.expect("ERR_", "400")
        through = Console(console.page, proxy.url)
        through.expect("ERR_", "400")
        through.sign_in(service.admin, f"#/collections/{collection}")
        return console.page

    yield open_through_proxy
    proxy.release()


@pytest.fixture
def page(open_through_proxy):
    return open_through_proxy()


@pytest.fixture
def stored(api, collection):
    """The collection has the content as its only version."""
    return api("PUT", f"/collections/{collection}/versions", CONTENT)


@pytest.fixture
def choose(page, tmp_path):
    """Choose a file on disk: Playwright would send its bytes as text."""

    def choose(name="dump.bin", content=CONTENT):
        (tmp_path / name).write_bytes(content)
        page.get_by_role("button", name="Upload").click()
        page.set_input_files("input[type=file]", tmp_path / name)

    return choose


def transfers(page):
    return page.get_by_role("region", name="Uploads and downloads").get_by_role("listitem")


def download(page):
    page.get_by_role("button", name="Download version 1").click()


def versions(api, collection):
    return api("GET", f"/collections/{collection}/versions")["items"]


@pytest.mark.costly
def test_an_upload_is_cancelled_and_tried_again(page, choose, proxy, api, collection):
    proxy.arm("hold", "up", MIB)
    choose()
    proxy.wait_until_held()
    transfers(page).get_by_role("button", name="Cancel").click()
    expect(transfers(page)).to_contain_text("Cancelled")
    assert [] == versions(api, collection)
    proxy.release()
    transfers(page).get_by_role("button", name="Retry").click()

    expect(transfers(page)).to_contain_text(COMPLETE)
    assert [hashlib.sha256(CONTENT).hexdigest()] == [one["sha256"] for one in versions(api, collection)]


def test_an_upload_survives_that_the_service_is_killed(page, choose, proxy, service, api, collection):
    proxy.arm("hold", "up", MIB)
    choose()
    proxy.wait_until_held()
    service.stop(signal.SIGKILL)
    proxy.release()
    expect(transfers(page)).to_contain_text(LOST)
    service.start()

    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)
    assert 1 == len(versions(api, collection))


@pytest.mark.costly
def test_several_run_at_once_and_the_others_wait(page, choose, proxy, api, collection):
    proxy.arm("hold", "up", MIB)
    for number in range(4):
        choose(f"part-{number}", CONTENT[number:])
    proxy.wait_until_held(3)
    expect(transfers(page).filter(has_text="part-3")).to_contain_text("Waits")
    proxy.release()

    expect(transfers(page).filter(has_text=COMPLETE)).to_have_count(4, timeout=30_000)
    assert {len(CONTENT) - number for number in range(4)} == {one["size"] for one in versions(api, collection)}


def test_wrong_bytes_of_an_upload_are_not_stored(page, choose, proxy, api, collection):
    proxy.arm("flip", "up", 2 * MIB)
    choose()
    expect(transfers(page).get_by_role("alert")).to_contain_text("digest")
    assert [] == versions(api, collection)
    transfers(page).get_by_role("button", name="Retry").click()
    expect(transfers(page)).to_contain_text(COMPLETE)

    assert [hashlib.sha256(CONTENT).hexdigest()] == [one["sha256"] for one in versions(api, collection)]


@pytest.mark.costly
@pytest.mark.parametrize("script", [PICKER, NO_PICKER], ids=["to disk", "in memory"])
def test_a_download_continues_where_the_connection_was_cut(stored, open_through_proxy, proxy, script):
    page = open_through_proxy(script)
    ranges = []
    page.on("request", lambda one: one.url.endswith("/content") and ranges.append(one.headers.get("range")))
    saved = []
    page.on("download", lambda one: saved.append(one))  # noqa: PLW0108  # Playwright marks the function
    proxy.arm("cut", "down", 3 * MIB)
    download(page)
    expect(transfers(page)).to_contain_text(LOST)
    expect(transfers(page)).to_contain_text(COMPLETE)

    first, second = ranges
    assert first is None
    assert (
        0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 3 * MIB
    )  # the browser drops what it has not handed over
    if script == PICKER:
        assert [len(CONTENT), stored["sha256"]] == page.evaluate(SAVED, "dump-v1.bin")
    else:
        assert CONTENT == saved[0].path().read_bytes()


@pytest.mark.costly
def test_a_download_is_cancelled_and_tried_again(stored, page, proxy):
    proxy.arm("hold", "down", 2 * MIB)
    download(page)
    proxy.wait_until_held()
    transfers(page).get_by_role("button", name="Cancel").click()
    expect(transfers(page)).to_contain_text("Cancelled")
    assert 0 == page.evaluate(SAVED, "dump-v1.bin")[0]
    proxy.release()
    transfers(page).get_by_role("button", name="Retry").click()

    expect(transfers(page)).to_contain_text(COMPLETE)
    assert [len(CONTENT), stored["sha256"]] == page.evaluate(SAVED, "dump-v1.bin")


def test_wrong_bytes_of_a_download_are_reported_and_not_saved(stored, page, proxy):
    proxy.arm("flip", "down", 2 * MIB)
    download(page)
    expect(transfers(page).get_by_role("alert")).to_contain_text("not those of the version")
    assert 0 == page.evaluate(SAVED, "dump-v1.bin")[0]
    transfers(page).get_by_role("button", name="Retry").click()

    expect(transfers(page)).to_contain_text(COMPLETE)
    assert [len(CONTENT), stored["sha256"]] == page.evaluate(SAVED, "dump-v1.bin")


@pytest.mark.costly
def test_a_disk_that_is_full_is_reported_at_once(stored, page):
    tools = page.context.new_cdp_session(page)
    origin = page.url.split("/ui/")[0]
    tools.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": MIB})
    download(page)

    expect(transfers(page).get_by_role("alert")).to_contain_text("cannot be written")
    assert 0 == page.evaluate(SAVED, "dump-v1.bin")[0]
    tools.send("Storage.overrideQuotaForOrigin", {"origin": origin})


@pytest.mark.costly
def test_a_large_version_is_downloaded_by_a_link_if_the_browser_cannot_write_to_disk(
    open_through_proxy, api, collection
):
    api("PUT", f"/collections/{collection}/versions", CONTENT * 10)
    page = open_through_proxy(NO_PICKER)
    with page.expect_download() as saved:
        download(page)

    assert CONTENT * 10 == saved.value.path().read_bytes()
    assert "signature" in saved.value.url
    expect(transfers(page)).to_have_count(0)


def test_the_digest_of_a_large_file_is_compared_after_it_was_sent(page, proxy, service, api, tmp_path):
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.truncate(65_000_000)
    console = Console(page, proxy.url)
    console.expect("ERR_")
    console.go("#/files")
    proxy.arm("flip", "up", 2 * MIB)
    with page.expect_request(lambda one: one.method == "POST" and "/files" in one.url) as sent:
        page.locator("main input[type=file]").set_input_files(large)
    uploads = page.get_by_role("region", name="Uploads").get_by_role("listitem")
    expect(uploads.get_by_role("alert")).to_contain_text("received other bytes", timeout=30_000)
    assert "repr-digest" not in sent.value.headers
    uploads.get_by_role("button", name="Retry").click()

    expect(uploads).to_contain_text("stored", timeout=30_000)
    right = hashlib.sha256(large.read_bytes()).hexdigest()
    assert right in {one["sha256"] for one in api("GET", "/files")["items"]}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("given", "result"), [(400_000, [True, 3]), (0, "The file cannot be read from byte 0 on")], ids=["some", "none"]
)
def test_a_file_that_the_browser_stops_to_deliver_is_opened_again(signed_in, given, result):
    assert result == signed_in.page.evaluate(READ_SILENT, [1_000_000, given])
