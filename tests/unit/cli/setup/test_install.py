ADMIN = "0e3d3a1c-2f0a-4c59-9d0e-0d5a7c1f2b33"
OTHER = "77b5c5c0-9f0c-4d0e-8a54-6a1b2c3d4e5f"
LINES = (
    f"auth:create-token --roles upload.all --id {OTHER} --ignore-error-if-token-exists\n"
    "backup:create-collection -f 'my dump.gz' -d \"two words\" -p a-password-5ecre7"
)


def test_an_empty_database_gets_its_schema(console):
    printed = console.answer("install")

    assert console.count("token") == 0
    assert " is ready\n" in printed
    assert "schema" not in printed  # a word of the inside


def test_the_administrators_token_is_made(console):
    console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN)

    assert console.rows("SELECT roles, expires_at FROM token") == [('["security.administrator"]', None)]


def test_it_is_safe_to_run_again(console):
    console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN, POST_INSTALL_CMD=LINES.splitlines()[0])

    again = console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN, POST_INSTALL_CMD=LINES.splitlines()[0])

    assert "exists already" in again
    assert console.count("token") == 2


def test_the_commands_run_with_their_quotes_read(console):
    console.answer("install", POST_INSTALL_CMD=LINES)

    assert console.rows("SELECT filename, description FROM collection") == [("my dump.gz", "two words")]
    assert console.count("token") == 1


def test_an_administrators_token_and_passwords_are_not_printed(console):
    printed = console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN, POST_INSTALL_CMD=LINES)

    assert ADMIN not in printed
    assert "a-password-5ecre7" not in printed


def test_no_shell_reads_the_commands(console):
    line = "backup:create-collection -f a -d $(touch${IFS}here)|touch&touch>there"

    console.answer("install", POST_INSTALL_CMD=line)

    assert console.rows("SELECT description FROM collection") == [("$(touch${IFS}here)|touch&touch>there",)]
    assert not (console.folder / "there").exists()


def test_a_failed_command_ends_the_installation(console):
    for line, said in [
        ("ls /", "Unknown command 'ls'"),
        ("auth:create-token", "required: --roles"),
        ("auth:create-token --roles nonsense", "Please select valid roles"),
        ("install", "must not run `frepo install`"),
    ]:
        done = console.run("install", POST_INSTALL_CMD=f"{line}\nauth:generate-admin-token")

        assert done.returncode == 1
        assert said in done.stderr
        assert f"{line.split()[0]} failed" in done.stderr
        assert console.count("token") == 0


def test_a_line_that_cannot_be_read_changes_nothing(new_console):
    assert "No closing quotation" in new_console.refusal("install", POST_INSTALL_CMD="backup:create-collection -d 'a")

    assert not new_console.database.exists()


def test_an_administrators_token_that_is_not_a_uuid_is_refused(console):
    done = console.run("install", SECURITY_ADMIN_TOKEN="secret")

    assert done.returncode == 1
    assert "security.admin_token (SECURITY_ADMIN_TOKEN) is not a UUIDv4" in done.stderr


def test_the_id_of_a_token_that_is_not_an_administrators_is_refused(console):
    console.answer("auth:create-token", "--roles", "upload.all", "--expires", "never", "--id", ADMIN)

    done = console.run("install", SECURITY_ADMIN_TOKEN=ADMIN)

    assert done.returncode == 1
    assert "it is not an administrator's token" in done.stderr
