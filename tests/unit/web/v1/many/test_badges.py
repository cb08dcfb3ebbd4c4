"""Badges show the state alone, to whoever has their address; and on which days backups have arrived."""

from xml.etree import ElementTree

from frepo_core.domain.roles import Role

V1 = "/api/v1"
RED = "#bf2318"


def test_a_badge_shows_the_state_of_one_or_of_all_by_its_code(root, anonymous, holder, collection):
    own = root.get(f"{V1}/collections/{collection}/badge").json["url"]
    everything = root.get(f"{V1}/badge").json["url"]
    secret = root.get(f"{V1}/collections/{collection}").json["name"]

    def read(url):
        answer = anonymous.get("/" + url.split("/", 3)[3])
        assert (200, "image/svg+xml") == (answer.status_int, answer.content_type)
        assert "svg" in ElementTree.fromstring(answer.text).tag
        assert secret not in answer.text
        return answer.text.partition("<title>")[2].partition("<")[0]

    assert ["backup: new", "backup: no backup"] == [read(own), read(everything)]
    root.call("PUT", f"{V1}/collections/{collection}/versions", body=b"one")
    assert ["backup: ok", "backup: ok"] == [read(own), read(everything)]
    for wrong in (own.replace(".svg", "0.svg"), everything.replace("/all/", f"/{collection}/")):
        assert 404 == anonymous.get("/" + wrong.split("/", 3)[3]).status_int
    assert 403 == holder(Role.UPLOAD_ALL).get(f"{V1}/badge").status_int


def test_a_badge_is_red_after_a_failed_run(root, anonymous, collection):
    root.call("PUT", f"{V1}/collections/{collection}/versions", body=b"one")
    urls = [root.get(path).json["url"] for path in (f"{V1}/collections/{collection}/badge", f"{V1}/badge")]

    def read():
        return [anonymous.get("/" + url.split("/", 3)[3]).text for url in urls]

    assert not any(RED in one for one in read())
    root.post(f"{V1}/collections/{collection}/runs", {"outcome": "failed", "error_output": "pg_dump: no space left"})
    own, everything = read()

    assert "<title>backup: failed</title>" in own and "<title>backup: 1 failed</title>" in everything
    assert RED in own and RED in everything
    assert "pg_dump" not in own + everything


def test_the_days_on_which_backups_have_arrived(root, holder, collection):
    for content in (b"one", b"two"):
        root.call("PUT", f"{V1}/collections/{collection}/versions", body=content)

    answer = root.get(f"{V1}/history/arrivals", {"days": 3}).json

    assert (3, [{"id": collection, "arrived": [0, 0, 2]}]) == (len(answer["days"]), answer["items"])
    stranger = holder(Role.LIST_COLLECTIONS)
    assert [] == stranger.get(f"{V1}/history/arrivals").json["items"]
