"""The parts of a version in the web console: a tree with sizes, a download, and what changed."""

import io
import tarfile

import pytest
from playwright.sync_api import expect

from frepo_core.testing.running_service import RunningService

XSS = "<img src=x onerror=alert(1)>"


def archive(**files):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def service(tmp_path, caplog):
    settings = {"parts.directory": str(tmp_path / "parts"), "uploads.directory": str(tmp_path / "uploads")}
    service = RunningService(tmp_path / "frepo", settings, caplog)
    yield service
    service.close()


@pytest.mark.costly
def test_a_tree_with_sizes_a_download_and_what_changed(console, service):
    made = service.request("POST", "/api/v1/collections", {"name": "etc.tar"}).json["id"]
    before = archive(etc__hosts=b"localhost", etc__large=b"x" * 3000, gone=b"g", **{XSS: b"odd"})
    after = archive(etc__hosts=b"localhost", etc__large=b"x" * 1000, **{XSS: b"odd"})
    for content in (before, after):
        service.request("PUT", f"/api/v1/collections/{made}/versions", content)
    console.sign_in(service.admin, f"#/collections/{made}")
    console.page.get_by_role("button", name="Contents: Version 2").click()
    dialog = console.page.get_by_role("dialog")

    expect(dialog).to_contain_text("tar archive, 3 parts")
    expect(dialog).to_contain_text(XSS)
    expect(dialog.get_by_role("heading", name="Changed since v1: 2")).to_be_visible()
    expect(dialog).to_contain_text("gone went: 1 byte → none")
    expect(dialog).to_contain_text("etc/large shrank: 3.00 kB → 1.00 kB")
    dialog.locator("summary").click()
    with console.page.expect_download() as started:
        dialog.get_by_role("button", name="Download hosts").click()
    assert "hosts" == started.value.suggested_filename
    assert b"localhost" == started.value.path().read_bytes()
    assert [] == console.violations()


@pytest.mark.costly
def test_what_has_no_list_says_why(console, service):
    made = service.request("POST", "/api/v1/collections", {"name": "a.txt"}).json["id"]
    service.request("PUT", f"/api/v1/collections/{made}/versions", b"just a text")
    console.sign_in(service.admin, f"#/collections/{made}")
    console.page.get_by_role("button", name="Contents: Version 1").click()

    expect(console.page.get_by_role("dialog")).to_contain_text("Its format has no reader of parts")
