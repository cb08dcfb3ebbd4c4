"""Uploads above 64 MiB, which are sent in parts: a reload of the page, a lost network, cancelled, ended meanwhile."""

import hashlib
import random
import re
import signal

import pytest
from playwright.sync_api import expect

from support.reliability.faulty_proxy import FaultyProxy
from support.scale import only_in_long_form
from support.wire import eventually

from ..conftest import Console
from .test_transfers import COMPLETE, LOST, MIB, transfers, versions

pytestmark = pytest.mark.costly

CONTENT = random.Random(3).randbytes(MIB) * 70
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PART = 16 * MIB
# Statuses that Chromium logs: another request still writes, the upload has ended, another digest.
LOGGED = ("409", "410", "460")
INTERRUPTED = re.compile("interrupted at (23|46|69|91)%: choose the file again")


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    limits = dict.fromkeys(("MAX_UPLOAD_SIZE", "BACKUP_ONE_VERSION_MAX_SIZE", "BACKUP_COLLECTION_MAX_SIZE"), "0")
    service = make_service(
        tmp_path_factory.mktemp("parts"), environment={**limits, "TRASH_MIN_FREE": "0", "UPLOADS_MAX_TOTAL": "2GB"}
    )
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def proxy(service):
    with FaultyProxy(service.address) as proxy:
        yield proxy


@pytest.fixture
def collection(api):
    return api("POST", "/collections", {"name": "dump.bin"})["id"]


@pytest.fixture
def console(open_console, service, proxy, collection):
    console = open_console()
    through = Console(console.page, proxy.url)
    for one in (console, through):
        one.expect("ERR_", *LOGGED)
    through.sign_in(service.admin, f"#/collections/{collection}")
    yield through
    through.stop()
    proxy.release()


@pytest.fixture
def page(console):
    return console.page


@pytest.fixture
def dump(tmp_path):
    """The file, on disk: Playwright would send its bytes as text."""
    (tmp_path / "dump.bin").write_bytes(CONTENT)
    return tmp_path / "dump.bin"


@pytest.fixture
def sent(page):
    """The requests about uploads in parts: method, and where a part begins."""
    sent = []

    def note(request):
        if "/uploads" in request.url:
            sent.append((request.method, request.headers.get("upload-offset")))

    page.on("request", note)
    yield sent
    page.remove_listener("request", note)


def choose(page, dump):
    page.get_by_role("button", name="Upload", exact=True).click()
    page.set_input_files(".drop input[type=file]", dump)


def choose_again(page, dump):
    with page.expect_file_chooser() as chooser:
        transfers(page).get_by_role("button", name=f"Choose {dump.name} again").click()
    chooser.value.set_files(dump)


def open_uploads(api, collection):
    return [one for one in api("GET", "/uploads")["items"] if one["collection"] == collection]


@pytest.fixture
def interrupted(page, proxy, dump, api, collection):
    """An upload that a reload of the page has interrupted after some parts; return how many bytes have arrived."""
    proxy.arm("hold", "up", 2 * PART + MIB)
    choose(page, dump)
    proxy.wait_until_held()
    page.reload()
    proxy.release()
    expect(transfers(page)).to_contain_text(INTERRUPTED)
    [upload] = open_uploads(api, collection)
    assert 0 < upload["offset"] < len(CONTENT)
    return upload["offset"]


@only_in_long_form
def test_an_upload_is_sent_in_parts_and_stored_as_a_whole(page, dump, api, collection, sent):
    choose(page, dump)
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]
    assert [("PATCH", str(at)) for at in range(0, len(CONTENT), PART)] == [one for one in sent if one[0] == "PATCH"]
    expect(page.get_by_role("row").filter(has_text="73.4 MB")).to_be_visible()
    assert 0 == page.evaluate("localStorage.length")


def test_a_small_upload_is_sent_as_a_whole(page, dump, api, collection, sent):
    dump.write_bytes(CONTENT[:MIB])
    choose(page, dump)
    expect(transfers(page)).to_contain_text(COMPLETE)

    assert [] == sent
    assert [MIB] == [one["size"] for one in versions(api, collection)]


@pytest.mark.own_server  # stock waitress takes each part on a connection of its own, and the proxy counts for each
def test_an_upload_goes_on_after_a_reload_with_the_same_file(page, dump, interrupted, api, collection, sent):
    choose_again(page, dump)
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert str(interrupted) == next(at for method, at in sent if method == "PATCH")
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]
    assert 0 == page.evaluate("localStorage.length")


@only_in_long_form
def test_an_upload_goes_on_when_the_same_file_is_dropped(page, dump, interrupted, api, collection, sent):
    choose(page, dump)
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert str(interrupted) == next(at for method, at in sent if method == "PATCH")
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]


@only_in_long_form
def test_another_file_does_not_continue_an_upload(page, dump, interrupted, api, collection):
    dump.write_bytes(CONTENT[1:])
    choose_again(page, dump)

    expect(transfers(page)).to_contain_text("This is another file")
    assert [interrupted] == [one["offset"] for one in open_uploads(api, collection)]
    transfers(page).get_by_role("button", name="Discard the upload of dump.bin").click()
    expect(transfers(page)).to_have_count(0)
    assert [] == eventually([], lambda: open_uploads(api, collection))
    assert [] == versions(api, collection)


@only_in_long_form
def test_an_upload_waits_for_the_network(page, dump, proxy, api, collection, sent):
    proxy.arm("hold", "up", PART + MIB)
    choose(page, dump)
    proxy.wait_until_held()
    page.context.set_offline(True)
    proxy.release()
    expect(transfers(page)).to_contain_text(LOST)
    page.wait_for_timeout(4000)  # some tries fail
    expect(transfers(page)).to_contain_text(LOST)
    [upload] = open_uploads(api, collection)
    sent.clear()
    page.context.set_offline(False)
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert [] == [method for method, _ in sent if method == "POST"]
    assert str(upload["offset"]) == next(at for method, at in sent if method == "PATCH")
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]


@only_in_long_form
def test_an_upload_survives_that_the_service_is_killed(page, dump, proxy, service, api, collection, sent):
    proxy.arm("hold", "up", 2 * PART + MIB)
    choose(page, dump)
    proxy.wait_until_held()
    service.stop(signal.SIGKILL)
    proxy.release()
    expect(transfers(page)).to_contain_text(LOST)
    service.start()
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert 1 == len([method for method, _ in sent if method == "POST"])
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]


@only_in_long_form
def test_a_part_that_arrives_with_another_byte_is_sent_again(page, dump, proxy, api, collection):
    proxy.arm("flip", "up", PART + 2 * MIB)
    choose(page, dump)
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)

    assert proxy.is_over
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]


@only_in_long_form
def test_a_cancelled_upload_ends_on_the_service(page, dump, proxy, api, collection):
    proxy.arm("hold", "up", PART + MIB)
    choose(page, dump)
    proxy.wait_until_held()
    assert 1 == len(open_uploads(api, collection))
    transfers(page).get_by_role("button", name="Cancel").click()
    proxy.release()
    expect(transfers(page)).to_contain_text("Cancelled")
    assert [] == eventually([], lambda: open_uploads(api, collection))

    assert 0 == eventually(0, lambda: page.evaluate("localStorage.length"))
    transfers(page).get_by_role("button", name="Retry").click()
    expect(transfers(page)).to_contain_text(COMPLETE, timeout=60_000)
    assert [DIGEST] == [one["sha256"] for one in versions(api, collection)]


@only_in_long_form
def test_an_upload_that_ended_meanwhile_is_forgotten(page, interrupted, api, collection):
    [upload] = open_uploads(api, collection)
    api("DELETE", f"/uploads/{upload['id']}", headers={"Tus-Resumable": "1.0.0"})
    page.reload()
    assert 0 == eventually(0, lambda: page.evaluate("localStorage.length"))

    expect(transfers(page)).to_have_count(0)


@only_in_long_form
def test_only_the_token_that_sent_it_goes_on_with_an_upload(console, page, interrupted, api, collection):
    other = api.token(*api("GET", "")["token"]["roles"])
    console.sign_in(other, f"#/collections/{collection}")
    console.settle()
    expect(transfers(page)).to_have_count(0)
    assert [interrupted] == [one["offset"] for one in open_uploads(api, collection)]


@only_in_long_form
def test_a_file_goes_on_after_a_reload(console, page, dump, proxy, api, sent):
    console.go("#/files")
    proxy.arm("hold", "up", PART + MIB)
    page.locator("main input[type=file]").set_input_files(dump)
    proxy.wait_until_held()
    page.reload()
    proxy.release()
    uploads = page.get_by_role("region", name="Uploads").get_by_role("listitem")
    expect(uploads).to_contain_text(INTERRUPTED)
    page.locator("main input[type=file]").first.set_input_files(dump)
    expect(uploads).to_contain_text("stored", timeout=60_000)

    assert DIGEST in {one["sha256"] for one in api("GET", "/files")["items"]}
    assert "0" not in [at for method, at in sent if method == "PATCH"][1:]
