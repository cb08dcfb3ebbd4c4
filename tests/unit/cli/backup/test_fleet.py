"""`fleet:create`, and tokens that `backup:create-collection` makes."""

import csv
import json
import shlex
import subprocess
from types import SimpleNamespace

import pytest

from frepo_core.cli.commands.backup.create_collection import CreateCollection
from frepo_core.errors import FrepoError
from frepo_core.features.enrolment.fleet_files.hosts_file import OPTIONS
from frepo_core.services.backups.collections.token_list import TokenLists
from support.logs.log_recorder import MARK

ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"


@pytest.fixture
def enrol(console):
    def enrol(hosts, *options, status=0):
        (console.folder / "hosts.csv").write_text(hosts)
        done = console.run("fleet:create", "--from", "hosts.csv", *options, "-f", "json")
        assert (done.returncode, done.stderr) == (status, "")
        return json.loads(done.stdout)

    return enrol


def show(console, collection):
    return json.loads(console.answer("backup:show", collection, "-f", "json"))


def test_each_host_gets_a_collection_and_a_token_on_its_list(console, enrol):
    rows = enrol(
        "name,filename,max_backups_count,label\ndb7,db7.sql.gz,14,shop web\nmail,,,\n", "--expected-every", "1d"
    )

    db7, mail = (show(console, row["Collection"]) for row in rows)
    assert ["collection and token made"] * 2 == [row["Result"] for row in rows]
    assert [[row["Fingerprint"]] for row in rows] == [db7["tokens"], mail["tokens"]]
    assert (["db7"], ["mail"]) == (db7["token_names"], mail["token_names"])
    assert (db7["name"], db7["max_backups_count"], db7["labels"], db7["description"]) == (
        *("db7.sql.gz", 14, ["shop", "web"]),
        "db7",
    )
    assert (mail["name"], mail["expected_every"]) == ("mail", db7["expected_every"])


def test_a_second_run_makes_and_shows_no_token(console, enrol):
    first = enrol("name\ndb7\n")

    second = enrol("name\ndb7\nnew\n")

    assert [("nothing to do", None), ("collection and token made", second[1]["Token"])] == [
        (row["Result"], row["Token"]) for row in second
    ]
    assert (first[0]["Collection"], first[0]["Fingerprint"]) == (second[0]["Collection"], second[0]["Fingerprint"])
    assert second[1]["Token"]
    assert console.count("token") == 2


def test_an_edited_collection_is_found_again_and_stays_as_it_is(console, enrol):
    [row] = enrol("name\ndb7\n")
    console.answer("backup:edit", row["Collection"], "--description", "other", "--filename", "other")

    assert "nothing to do" == enrol("name\ndb7\n")[0]["Result"]
    assert "other" == show(console, row["Collection"])["description"]


def test_a_host_whose_token_was_revoked_gets_another_one(console, enrol):
    [row] = enrol("name\ndb7\n")
    console.answer("auth:revoke", row["Fingerprint"])

    [again] = enrol("name\ndb7\n")

    assert ("token made", row["Collection"]) == (again["Result"], again["Collection"])
    assert again["Token"] not in {None, row["Token"]}


def test_an_error_about_one_host_does_not_stop_the_others(monkeypatch, console, enrol):
    """What the file says is checked before; what others do meanwhile is not."""

    failures = [FrepoError("The collection was deleted meanwhile")]

    def fail(self, collection_id, fingerprint, **more):
        if failures:
            raise failures.pop()
        return grant(self, collection_id, fingerprint, **more)

    grant = TokenLists.grant
    monkeypatch.setattr(TokenLists, "grant", fail)

    rows = enrol("name\ndb7\nmail\n", status=1)

    assert ["failed: The collection was deleted meanwhile", "collection and token made"] == [
        row["Result"] for row in rows
    ]


def test_each_option_of_a_collection_is_a_column(console, enrol):
    options = {option.dest for option in CreateCollection(SimpleNamespace(), None).get_parser("x")._actions}
    others = {"help", "id", "ignore_error_if_exists", "allow", "token_name", "token_expires", "url"}
    of_output = {"formatter", "columns", "variables", "prefix", "fit_width", "max_width", "print_empty", "noindent"}
    assert options - others - of_output - {"is_verbose"} <= set(OPTIONS)

    rows = enrol(
        f'name,strategy,strategy_options,password\ndb7,keep,"{{""daily"": 14}}",{MARK}\nmail,,,\n',
    )

    db7, mail = (show(console, row["Collection"]) for row in rows)
    assert ("keep", 14, "set") == (db7["strategy"], db7["strategy_options"]["daily"], db7["password"])
    assert (None, None) == (mail["strategy_options"], mail["password"])


def test_comments_and_empty_lines_are_left_out(enrol):
    rows = enrol(
        '# The hosts of Ann, "see the wiki"\n\nname,label\n  # the old ones, until May\ndb7,shop\n\n#mail,\n"#9",\n'
    )

    assert ["db7", "#9"] == [row["Host"] for row in rows]


@pytest.fixture
def read_tokens(console):
    def read(path="tokens.csv"):
        with (console.folder / path).open() as file:
            return {row["Host"]: row["Token"] for row in csv.DictReader(file, strict=True)}

    return read


def test_the_file_of_tokens_keeps_those_of_earlier_runs(console, enrol, read_tokens):
    first = enrol("name\ndb7\nweb\n", "--tokens", "tokens.csv")
    before = read_tokens()

    second = enrol("name\ndb7\nweb\nmail\n", "--tokens", "tokens.csv")

    assert ([None] * 5, ["db7", "web"]) == ([row["Token"] for row in (*first, *second)], list(before))
    assert before == {host: token for host, token in read_tokens().items() if host != "mail"}
    assert all(len(token) == 36 for token in read_tokens().values())
    assert 0o600 == (console.folder / "tokens.csv").stat().st_mode & 0o777


def test_tokens_are_added_to_a_file_that_an_earlier_release_printed(console, enrol, read_tokens):
    (console.folder / "tokens.csv").write_text(
        '"Host","Collection","Token","Fingerprint","Result"\n"old","c","t","f","made"'
    )

    enrol("name\ndb7\n", "--tokens", "tokens.csv")

    assert {"old", "db7"} == read_tokens().keys()


def test_another_file_is_not_taken_for_one_of_tokens(console):
    (console.folder / "hosts.csv").write_text("name\ndb7\n")

    refusal = console.refusal("fleet:create", "--from", "hosts.csv", "--tokens", "hosts.csv")

    assert "--tokens: 'hosts.csv' is another file" in refusal
    assert ("name\ndb7\n", False) == ((console.folder / "hosts.csv").read_text(), bool(console.count("collection")))


def test_output_into_a_file_that_the_next_run_would_replace_is_refused(console, read_tokens):
    (console.folder / "hosts.csv").write_text("name\ndb7\n")
    command = ["fleet:create", "--from", "hosts.csv", "-f", "csv"]
    with (console.folder / "made.csv").open("w") as file:
        done = console.run(*command, stdout=file)

    assert (1, False) == (done.returncode, bool(console.count("token")))
    assert "--tokens: give it a FILE, to which lines are added" in done.stderr

    with (console.folder / "made.csv").open("a") as file:
        console.run(*command, stdout=file)
    assert ["db7"] == list(read_tokens("made.csv"))


def test_wrong_lines_are_named_before_anything_is_made(console):
    for content, message in [
        ("name,label,label\ndb7,a,b\n", "two columns have the name 'label'"),
        ("# name\n", "one of them must be: name"),
        ("host\ndb7\n", "one of them must be: name"),
        ("name,max_backup_count\ndb7,3\n", "unknown columns: max_backup_count"),
        ("name\ndb7\ndb7\n", "line 3: name: 'db7' is in the file already"),
        ("name,max_backups_count\ndb7,many\n\ndb8,few\n", "line 4"),
        ("name,filename\ndb7,a/b\n", "line 2"),
        ("name\ndb7,3\n", "more values than columns"),
        ("name\n  \n", "line 2"),
        ("name,strategy\ndb7,\ndb8,none\n", "line 3: strategy: unknown_strategy"),
        ('name,strategy,strategy_options\ndb7,keep,\ndb8,keep,"{""daly"": 1}"\n', "line 3: strategy_options"),
        ("name,storage\ndb7,\ndb8,none\n", "line 3: storage"),
        ("name,mirror\ndb7,\ndb8,local\n", "line 3: mirror"),
        ("name,max_collection_size\ndb7,\ndb8,1kB\n", "line 3: "),
        ("name,expected_every\ndb7,1d\ndb8,daily\ndb9,61 2 * * *\n", "line 4"),
        ("name,grace\ndb7,soon\n", "line 2: grace"),
        ("name,label\ndb7," + "x" * 65 + "\n", "line 2: label"),
    ]:
        (console.folder / "hosts.csv").write_text(content)

        assert message in console.refusal("fleet:create", "--from", "hosts.csv")
        assert not console.count("collection")


def test_a_missing_file_is_named(console):
    assert "'none.csv' cannot be read" in console.refusal("fleet:create", "--from", "none.csv")


def variables(shown):
    """Return the variables that the printed lines set in a shell."""
    code = f'{shown}\nprintf \'%s\\n\' "$COLLECTION" "$URL" "$TOKEN"'
    return subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_collection_with_a_token_is_printed_for_a_shell(console):
    shown = console.answer(
        "backup:create-collection", "-f", "a b.sql", "--token-name", "db7", "--url", "https://f.org/"
    )

    collection, url, token = variables(shown)
    assert [(collection,)] == console.rows("SELECT id FROM collection")
    assert url == f"https://f.org/api/v1/collections/{collection}/versions"
    assert show(console, collection)["tokens"] == [shown.split("The token ")[1].split()[0]]
    assert console.rows("SELECT name, roles, expires_at FROM token") == [
        (
            "db7",
            '["collections.list_versions_for_allowed_collections", "collections.upload_to_allowed_collections"]',
            None,
        )
    ]
    [cron] = [line for line in shown.splitlines() if "root DUMP" in line]
    assert token not in cron
    words = shlex.split(cron.removeprefix("#"))
    assert url == words[words.index("-T") + 2]
    assert "--fail-with-body" in cron and "--retry" not in cron
    assert "Never add --retry" in shown


def test_only_its_owner_can_read_the_file_that_the_printed_line_makes(console):
    shown = console.answer("backup:create-collection", "-f", "a", "--token-name", "db7")
    [line] = [line.removeprefix("#") for line in shown.splitlines() if "/dev/stdin" in line]
    [cron] = [line for line in shown.splitlines() if "root DUMP" in line]
    path = line.split()[-1]
    file = console.folder / path.removeprefix("/")

    subprocess.run(["sh", "-euc", f"umask 022; {line.replace(path, str(file))}"], check=True)

    assert f"-H @{path}" in cron
    assert (0o600, f"X-Auth-Token: {variables(shown)[2]}\n") == (file.stat().st_mode & 0o777, file.read_text())


def test_the_second_run_does_not_show_the_token_again(console):
    command = ["backup:create-collection", "-f", "a", "--token-name", "db7", "--id", ID, "--ignore-error-if-exists"]
    console.answer(*command)

    shown = console.answer(*command)

    assert "TOKEN=" not in shown
    assert "has the token" in shown
    assert console.count("token") == 1


def test_an_existing_token_is_allowed(console):
    console.answer("auth:create-token", "--roles", "upload.all")
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token")

    collection = console.answer("backup:create-collection", "-f", "a", "--allow", fingerprint)

    assert [fingerprint] == show(console, collection)["tokens"]


def test_an_unknown_token_is_refused_before_the_collection_is_made(console):
    assert "abcdefabcdef" in console.refusal("backup:create-collection", "-f", "a", "--allow", "abcdefabcdef")
    assert not console.count("collection")


def test_the_state_of_a_collection_is_shown_and_decides_about_the_exit_status(console):
    options = ["--min-version-size", "100", "--on-suspicious", "keep", "--expected-every", "1d"]
    collection = console.answer("backup:create-collection", "-f", "a", *options)
    assert "new" == console.answer("backup:status", collection, "-f", "value", "-c", "state")

    console.answer("backup:upload", collection, "-", stdin="tiny")
    done = console.run("backup:status", collection, "-f", "json")

    shown = json.loads(done.stdout)
    assert (done.returncode, shown["state"], shown["last_version"]) == (1, "suspicious", "v1")
    assert shown["due_at"] > shown["last_version_at"]


def test_a_code_that_was_lost_is_revoked_and_made_again(console, enrol):
    [first] = enrol("name\ndb7\n", "--codes")
    [again] = enrol("name\ndb7\n", "--codes")
    assert ("collection and code made", "the code of an earlier run is valid", None) == (
        first["Result"],
        again["Result"],
        again["Code"],
    )

    [row] = json.loads(console.answer("enrolment:list", "-f", "json"))
    console.answer("enrolment:revoke", row["Id"])
    [new] = enrol("name\ndb7\n", "--codes")

    assert "code made" == new["Result"]
    assert new["Code"] not in {None, first["Code"]}


def test_codes_are_not_added_to_a_file_of_tokens(console, enrol):
    enrol("name\ndb7\n", "--tokens", "tokens.csv")

    (console.folder / "hosts.csv").write_text("name\nweb\n")
    refused = console.run("fleet:create", "--from", "hosts.csv", "--codes", "tokens.csv")

    assert refused.returncode != 0
    assert "--codes: 'tokens.csv' is another file" in refused.stderr
