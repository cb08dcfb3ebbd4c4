"""One change of many collections, which can be tried first."""

from frepo_core.domain.roles import Role

V1 = "/api/v1"
EDIT = f"{V1}/collections:edit"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def test_a_change_of_many_is_tried_first_and_each_refusal_is_named(root, holder, make_collection, collection):
    pinned = make_collection(filename="pinned.sql")
    for number in (1, 2):
        root.call("PUT", f"{V1}/collections/{pinned}/versions", body=b"%d" % number)
        patch = {"Content-Type": "application/merge-patch+json"}
        root.call("PATCH", f"{V1}/collections/{pinned}/versions/v{number}", json={"pinned": True}, headers=patch)
    wanted = {"collections": [collection, pinned, UNKNOWN], "change": {"limits": {"versions": 1}, "labels": ["prod"]}}

    def send(**more):
        answer = root.post(EDIT, wanted | more)
        assert 200 == answer.status_int, answer.json
        return answer.json["items"]

    tried = send(dry_run=True)

    assert ("dump.sql.gz", {"versions": 1, "labels": ["prod"]}, None) == (
        tried[0]["name"],
        tried[0]["after"],
        tried[0]["error"],
    )
    assert ({}, True, True) == (tried[1]["after"], "pinned" in tried[1]["error"], bool(tried[2]["error"]))
    assert [] == root.get(f"{V1}/collections/{collection}").json["labels"]
    assert tried == send()
    assert ["prod"] == root.get(f"{V1}/collections/{collection}").json["labels"]
    stranger = holder(Role.MODIFY_COLLECTIONS)
    [refused] = stranger.post(EDIT, {"collections": [collection], "change": {"labels": []}}).json["items"]
    assert ("", True) == (refused["name"], "may not edit" in refused["error"])
    assert 400 == root.post(EDIT, {"collections": [collection], "change": {"limits": {"versions": -1}}}).status_int
    assert 400 == root.post(EDIT, wanted | {"collections": [collection, collection]}).status_int
