"""No error of `frepo` prints a secret setting, however wrong it is, and a line end around one is not part of it."""

import uuid

import pytest

SECRET = "5ecre7"
TOKEN = f"{uuid.uuid4()}"
# Values that are wrong, each with a secret. The name of the setting is printed.
WRONG = {
    "DATABASE_URL": [
        f"postgresql://frepo:{SECRET}@127.0.0.1:1/frepo",
        f"mysql://frepo:{SECRET}@127.0.0.1:1/frepo",
        f"postgresql://frepo:{SECRET}@[::1/frepo",
        f"postgresql://frepo:{SECRET}@127.0.0.1:port/frepo",
        f"oracle://frepo:{SECRET}@127.0.0.1/frepo",
        f"{SECRET}",
        f"postgresql://frepo:pass word {SECRET}@127.0.0.1:1/frepo",
    ],
    "SECURITY_ADMIN_TOKEN": [f"{SECRET}-no-uuid", f"{SECRET}\x1b"],
    "NOTIFY_TARGETS": [f"all = smtp://u:{SECRET}@[::1", f"{SECRET}", f"all = nothing://{SECRET}", f"all={SECRET}\n b"],
    "NOTIFY_HEARTBEAT": [f"http://u:{SECRET}@[::1", f"{SECRET}", f"ftp://{SECRET}"],
    "METRICS_CODE": [f"{SECRET} \x1b"],
    "HEALTH_CHECK_CODE": [f"{SECRET} \x1b"],
}
S3 = {"FS_ADAPTER": "awss3v3", "FS_AWSS3V3_BUCKET": "b", "FS_AWSS3V3_REGION": "r", "FS_AWSS3V3_KEY": "k"}
FTP = {"FS_ADAPTER": "ftp", "FS_FTP_HOST": "127.0.0.1", "FS_FTP_PORT": "1", "FS_FTP_USERNAME": "u", "FS_FTP_ROOT": "/"}
STORAGES = [
    {**S3, "FS_AWSS3V3_SECRET": f"{SECRET}\x1b\n", "FS_AWSS3V3_ENDPOINT": f"http://u:{SECRET}@[::1"},
    {**S3, "FS_AWSS3V3_SECRET": SECRET, "FS_AWSS3V3_ENDPOINT": "http://127.0.0.1:1", "FS_AWSS3V3_KEY": ""},
    {**FTP, "FS_FTP_PASSWORD": f"{SECRET}\na"},
    {**FTP, "FS_FTP_PASSWORD": SECRET},
]
COMMANDS = (["--debug", "status"], ["doctor"], ["install"])


def all_settings():
    yield from ({name: value} for name, values in WRONG.items() for value in values)
    yield from STORAGES


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[-1])
def test_no_error_prints_a_secret(console, command):
    console.answer("db:upgrade")
    for settings in all_settings():
        done = console.run(*command, **settings)
        printed = done.stdout + done.stderr
        assert SECRET not in printed, (settings, printed)


def test_a_line_end_around_a_setting_is_not_part_of_it(console):
    console.answer("db:upgrade", DATABASE_URL=f" sqlite:///{console.database}\n")

    done = console.run("install", SECURITY_ADMIN_TOKEN=f"{TOKEN}\n", APP_ENV=" dev\r\n")

    assert (0, 1) == (done.returncode, console.count("token"))


def test_keys_of_what_is_stored_are_taken_as_they_are(console):
    """Those of earlier releases with a line end stay valid."""
    variables = {"ENC_TOKEN_PHRASE": "a phrase\n", "APP_SECRET": "a secret\n"}
    console.answer("auth:create-token", "--roles", "upload.all", **variables)

    assert 0 == console.run("auth:list", **variables).returncode
    assert 1 == console.run("auth:list", **variables | {"ENC_TOKEN_PHRASE": "a phrase"}).returncode
