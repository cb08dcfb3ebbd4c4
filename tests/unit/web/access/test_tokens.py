"""HTTP API, 3: generating, looking up, revoking and clearing tokens."""

import uuid

import pytest

from frepo_core.domain.roles import Role
from support.answers import CHOSEN_TOKEN, NOBODY

GENERATE = "/auth/token/generate"


def generate(caller, *roles, **more):
    return caller.post(GENERATE, {"roles": list(roles or ["upload.all"]), **more})


def look_up(caller, token):
    return caller.get(f"/auth/token/{token}")


def test_roles_are_at_most_a_hundred_and_reported_at_once(root):
    answer = generate(root, *["nonsense"] * 101)
    assert (answer.status_int, len(answer.json["fields"]["form.roles"]) < 102) == (400, True)
    answer = generate(root, *["upload.all"] * 101)
    assert (answer.status_int, list(answer.json["fields"])) == (400, ["form.roles"])


@pytest.mark.databases
def test_a_lookup_shows_all_fields_of_a_token(root):
    data = {
        "tags": ["B", "a"],
        "allowedMimeTypes": ["image/png"],
        "maxAllowedFileSize": "1.5kB",
        "allowedUserAgents": ["curl/8"],
        "allowedIpAddresses": ["10.0.0.1", "10.1.0.0/16"],
    }
    made = generate(root, "upload.images", "security.overwrite", data=data, expires="2030-01-02 03:04:05").json
    token = made["tokenId"]
    answer = look_up(root, token.upper())

    assert answer.status_int == 200
    assert answer.json == {
        "tokenId": token,
        "fingerprint": made["fingerprint"],
        "expires": "2030-01-02 03:04:05",
        "roles": ["security.overwrite", "upload.images"],
        "tags": ["b", "a"],
        "mimes": ["image/png"],
        "max_file_size": 1500,
        "ip_addresses": ["10.0.0.1", "10.1.0.0/16"],
        "user_agents": ["curl/8"],
    }


@pytest.mark.databases
def test_a_lookup_shows_expired_tokens(root, make_token):
    assert look_up(root, make_token(expires="2001-01-01")).json["expires"] == "2001-01-01 00:00:00"


def test_an_unknown_role_is_refused(root):
    for roles in [["nothing"], ["upload.all", "UPLOAD.ALL"], [""], ["upload.all "]]:
        answer = generate(root, *roles)

        assert answer.status_int == 400, roles
        assert "Please select valid roles" in answer.json["fields"]["form.roles"][0], roles


def test_every_role_can_be_granted(root):
    for role in Role:
        token = generate(root, role).json["tokenId"]
        assert look_up(root, token).json["roles"] == [role]


def test_an_invalid_restriction_is_refused(root):
    for field, value in [
        ("tags", "a"),
        ("tags", ["a b"]),
        ("tags", [""]),
        ("tags", [1]),
        ("tags", None),
        ("allowedMimeTypes", {"a": 1}),
        ("allowedMimeTypes", [None]),
        ("maxAllowedFileSize", -1),
        ("maxAllowedFileSize", "5 parsecs"),
        ("maxAllowedFileSize", 1.5),
        ("maxAllowedFileSize", True),
        ("maxAllowedFileSize", 2**63),
        ("maxAllowedFileSize", [1]),
        ("allowedUserAgents", "curl"),
        ("allowedUserAgents", [5]),
        ("allowedIpAddresses", ["10.0.0.0/33"]),
        ("allowedIpAddresses", ["localhost"]),
        ("allowedIpAddresses", [1]),
        ("allowedIpAddresses", [""]),
    ]:
        answer = generate(root, data={field: value})

        assert (answer.status_int, answer.json["status"]) == (400, "Validation error"), field
        assert set(answer.json["fields"]) == {f"form.data.{field}"}


def test_restrictions_are_an_object(root):
    for data in [None, ["a"], "x", 1]:
        assert set(generate(root, data=data).json["fields"]) == {"form.data"}, data
    assert generate(root, data=[]).json["tokenId"]


def test_an_id_can_be_chosen(root):
    assert generate(root, id=CHOSEN_TOKEN.upper()).json["tokenId"] == CHOSEN_TOKEN


def test_choosing_an_id_needs_its_role(holder):
    answer = generate(holder(Role.GENERATE_TOKENS), id=CHOSEN_TOKEN)

    assert (answer.status_int, answer.json["error_code"]) == (403, 403)


def test_both_roles_together_allow_choosing_an_id(holder):
    assert generate(holder(Role.GENERATE_TOKENS, Role.CHOOSE_TOKEN_IDS), id=CHOSEN_TOKEN).status_int == 202


def test_a_chosen_id_is_a_uuid4(root):
    for chosen in [
        "x",
        "1",
        str(uuid.UUID(int=0)),
        "b489a9b8-e577-11f1-bbaa-02fc00000001",
        CHOSEN_TOKEN.replace("-", ""),
        f"{{{CHOSEN_TOKEN}}}",
    ]:
        answer = generate(root, id=chosen)

        assert (answer.status_int, answer.json["fields"]) == (400, {"id": ["id_expects_to_be_uuidv4_format"]}), chosen


@pytest.mark.databases
def test_a_taken_id_is_refused(root):
    for again in [CHOSEN_TOKEN, CHOSEN_TOKEN.upper()]:
        generate(root, id=CHOSEN_TOKEN)
        answer = generate(root, id=again)

        assert (answer.status_int, answer.json["fields"]) == (
            400,
            {"id": ["id_already_exists_please_select_other_one"]},
        ), again


def test_a_token_is_stored_under_an_hmac_only(services, root, tmp_path):
    generate(root, id=CHOSEN_TOKEN)
    services.database.engine.dispose()

    assert not any(CHOSEN_TOKEN.encode() in path.read_bytes() for path in tmp_path.glob("frepo.db*"))


@pytest.mark.databases
def test_an_unknown_token_is_not_found(root):
    for method in ["GET", "DELETE"]:
        for token in [NOBODY, "x", "a" * 1000, "\0"]:
            answer = root.call(method, f"/auth/token/{token}".replace("\0", "%00"))

            assert (answer.status_int, answer.json["error_code"]) == (404, 404), method


def test_the_permission_is_checked_before_the_token_is_looked_up(holder):
    for method in ["GET", "DELETE"]:
        assert holder(Role.GENERATE_TOKENS).call(method, f"/auth/token/{NOBODY}").status_int == 403, method


def test_roles_are_listed_with_what_they_allow(holder):
    answer = holder(Role.USE_TECHNICAL).get("/auth/roles")

    assert answer.json == {"roles": {role.value: role.description for role in Role}}
