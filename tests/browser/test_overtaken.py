"""Versions in quarantine because newer ones have overtaken them."""

import socket

from playwright.sync_api import expect

from support.wire import Wire, head


def test_all_overtaken_versions_are_released_in_one_step(signed_in, service, api):
    """Also those that the page does not show: it has one in quarantine for another reason, too, which stays there."""
    made = {"name": "late.txt", "limits": {"versions": 20}, "guards": {"min_version_size": 4}}
    collection = api("POST", "/collections", made)["id"]
    path = f"/api/v1/collections/{collection}/versions"
    for night in range(2):
        with Wire(service) as late:
            fields = [f"Authorization: Bearer {service.admin}", "Content-Length: 6", "Expect: 100-continue"]
            late.send(head("POST", path, *fields))
            assert late.socket.recv(100)
            for newer in range(2):
                api("PUT", f"/collections/{collection}/versions", b"newer %d %d" % (night, newer))
            late.send(b"late %d" % night).socket.shutdown(socket.SHUT_WR)
            assert 201 == late.reply().status
    api("PUT", f"/collections/{collection}/versions", b"tin")
    signed_in.go(f"#/collections/{collection}")
    page = signed_in.page

    page.get_by_role("button", name="Release all overtaken").click()
    expect(page.get_by_role("button", name="Release all overtaken")).to_have_count(0)

    items = api("GET", f"/collections/{collection}/versions")["items"]
    assert [7] == [one["number"] for one in items if one["quarantined"]]
    assert 7 == len(items)
