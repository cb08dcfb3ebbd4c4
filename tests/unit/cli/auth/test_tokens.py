import json
import re
import sqlite3
import threading

import pytest

ID = "c4a8fd64-7ec4-4b13-8a0e-2f0c0a3f6a11"
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def response(text):
    return json.loads(text.partition("Response:\n")[2])


def form(text):
    return json.loads(text.partition("Form:\n")[2].partition("Response:\n")[0])


def test_an_administrators_token_is_printed_as_its_id_and_never_expires(console):
    assert UUID4.fullmatch(console.answer("auth:generate-admin-token"))
    assert "administrator" in console.answer("auth:list", "-f", "value", "-c", "Name")
    assert console.rows("SELECT roles, expires_at FROM token") == [('["security.administrator"]', None)]


@pytest.mark.parametrize("arguments", [["-v", "auth:generate-admin-token"], ["auth:generate-admin-token", "-v"]])
def test_verbose_shows_request_and_answer_and_logs_to_stderr(console, arguments):
    done = console.run(*arguments)

    assert form(done.stdout)["roles"] == ["security.administrator"]
    [fingerprint] = console.rows("SELECT fingerprint FROM token")[0]
    token_id = response(done.stdout)["tokenId"]
    assert response(done.stdout) == {"tokenId": token_id, "fingerprint": fingerprint, "expires": None}
    assert "was made" in done.stderr


def test_the_log_file_takes_the_log(console):
    console.run("-v", "--log-file", "console.log", "auth:generate-admin-token")

    assert "was made" in (console.folder / "console.log").read_text()


def test_options_set_all_fields_of_a_token(console):
    options = ["--roles", "upload.all, view.any_file", "--tags", "Night,b", "--mimes", "image/png"]

    console.answer("auth:create-token", *options, "--max-file-size", "1.5GB", "--expires", "2035-01-02 03:04:05")

    columns = "roles, tags, mimes, max_file_size, expires_at"
    [(roles, tags, mimes, size, expires)] = console.rows(f"SELECT {columns} FROM token")
    assert json.loads(roles) == ["upload.all", "view.any_file"]
    assert json.loads(tags) == ["night", "b"]
    assert json.loads(mimes) == ["image/png"]
    assert size == 1_500_000_000
    assert expires.startswith("2035-01-02 03:04:05")


def test_a_token_can_be_restricted_to_addresses_and_user_agents(console):
    options = ["--ip-addresses", "10.1.2.3/8, ::ffff:192.0.2.7", "--user-agent", "curl/*", "--user-agent", "a, (b)"]

    done = console.run("-v", "auth:create-token", "--roles", "upload.all", *options)

    [(addresses, agents)] = console.rows("SELECT ip_addresses, user_agents FROM token")
    assert (json.loads(addresses), json.loads(agents)) == (["10.0.0.0/8", "192.0.2.7"], ["curl/*", "a, (b)"])
    assert form(done.stdout)["data"]["allowedIpAddresses"] == ["10.0.0.0/8", "192.0.2.7"]


def test_an_ineffective_restriction_makes_no_token(console):
    for option, value, said in [
        ("--ip-addresses", "", "--ip-addresses: is empty"),
        ("--ip-addresses", "localhost", "--ip-addresses: 'localhost' does not appear to be"),
        ("--user-agent", "", "--user-agent: is empty"),
        ("--user-agent", "a" * 513, "--user-agent: at most 512 characters"),
    ]:
        console.answer("db:upgrade")

        assert said in console.refusal("auth:create-token", "--roles", "upload.all", option, value)
        assert console.rows("SELECT count(*) FROM token") == [(0,)]


def test_an_id_that_is_taken_is_success_on_demand(console):
    console.answer("auth:create-token", "--roles", "upload.all", "--id", ID)

    again = console.answer(
        "auth:create-token", "--roles", "view.any_file", "--id", ID, "--ignore-error-if-token-exists"
    )

    assert again == ID
    assert console.rows("SELECT roles FROM token") == [('["upload.all"]',)]


def test_an_invalid_token_is_refused_and_the_option_named(console):
    for options, said in [
        (["--roles", "upload.everything"], "Please select valid roles; unknown: upload.everything. Known: "),
        (["--roles", ","], "Please select valid roles: none is given. Known: "),
        (["--roles", "upload.all", "--mimes", ""], "--mimes: is empty"),
        (["--roles", "upload.all", "--expires", "yesterday"], "tomorrow, never or auto; given: 'yesterday'"),
        (["--roles", "upload.all", "--tags", "a b"], "Tag is not valid"),
        (["--roles", "upload.all", "--max-file-size", "5 parsecs"], "cannot_parse_disk_space_check_format"),
        (["--roles", "upload.all", "--max-file-size=-1"], "number_cannot_be_negative_value"),
        (["--roles", "upload.all", "--expires", "when it rains"], "invalid_date_format_and_not_an_expression"),
        (["--roles", "upload.all", "--id", "1234"], "id_expects_to_be_uuidv4_format"),
        (["--roles", "upload.all", "--id", "1234", "--ignore-error-if-token-exists"], "id_expects_to_be_uuidv4_format"),
        (["--roles", "upload.all", "--id", ""], "--id: is empty"),
    ]:
        refusal = console.refusal("auth:create-token", *options)

        assert said in refusal
        assert console.count("token") == 0


def test_only_expired_tokens_are_cleared(console):
    console.answer("auth:create-token", "--roles", "upload.all", "--expires", "never")
    console.answer("auth:create-token", "--roles", "upload.all", "--expires", "2050-01-01")
    console.change("UPDATE token SET expires_at = '2001-02-03 00:00:00.000000' WHERE expires_at IS NOT NULL")

    cleared = console.answer("auth:clear-expired-tokens")

    assert re.fullmatch(r"\w+ expired at 2001-02-03 00:00:00\n1 expired tokens were removed", cleared)
    assert console.count("token") == 1


def test_a_token_is_revoked_by_its_fingerprint_in_the_log(console):
    console.answer("auth:create-token", "--roles", "upload.all")
    made = console.run("-v", "auth:create-token", "--roles", "view.any_file,upload.backup")
    [shown] = re.findall(r"token ([0-9a-f]+) was made", made.stderr)

    said = console.answer("auth:revoke", shown)

    assert said == f"Token {shown} was revoked. Its roles were: upload.backup, view.any_file"
    assert console.count("token") == 1
    assert f"No token has the fingerprint {shown}" in console.refusal("auth:revoke", shown)


def test_an_id_is_refused_as_fingerprint_and_not_shown(console):
    console.answer("auth:create-token", "--roles", "upload.all", "--id", ID)

    said = console.refusal("auth:revoke", ID)

    assert "12 to 16 hexadecimal digits are expected" in said
    assert ID not in said
    assert console.count("token") == 1


def test_a_command_waits_for_a_locked_database(console):
    console.answer("db:upgrade")
    other = sqlite3.connect(console.database, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(1, other.close).start()  # closing rolls back

    assert UUID4.fullmatch(console.answer("auth:generate-admin-token"))


def test_what_is_not_a_mime_type_is_refused(console):
    for mimes in ["image", "image/*", "*", "image/png;q=1", "image/png, image/"]:
        refusal = console.refusal("auth:create-token", "--roles", "upload.all", "--mimes", mimes)

        wrong = mimes.rpartition(", ")[2]
        assert f"--mimes: {wrong!r} is not a MIME type: write e.g. image/png or application/gzip" in refusal
        assert console.count("token") == 0


def test_a_token_is_not_made_for_the_past(console):
    for command, option in [
        ("auth:create-token --roles upload.all", "--expires"),
        ("backup:create-collection --filename a.sql --token-name db7", "--token-expires"),
        ("fleet:create --tokens tokens.csv --from hosts.csv", "--token-expires"),
    ]:
        refused = console.refusal(*command.split(), option, "2020-01-01")

        assert f"{option}: 2020-01-01 00:00:00 UTC is in the past" in refused
        assert 0 == console.count("token") + console.count("collection")
