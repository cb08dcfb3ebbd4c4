"""The check of the test suite's logs (`support.logs`) finds a secret in any process."""

import os
import subprocess
import sys
import uuid

import pytest

from support.logs import log_recorder
from support.logs.secret_watch import RecordedLogs
from support.servers.service import BIN, ROOT

TOKEN = str(uuid.uuid4())
LOGGED = f"import logging; logging.getLogger('some.library').debug('no secret: %s', '{TOKEN}')"


@pytest.fixture
def own(tmp_path):
    (tmp_path / "lines").touch()
    (tmp_path / "secrets").touch()
    recorded_logs = RecordedLogs(tmp_path)
    recorded_logs.note = lambda secret: (tmp_path / "secrets").write_text(f"{secret}\n")
    return recorded_logs


@pytest.fixture
def run_recorded(tmp_path, own):
    """Run a program whose logs are recorded, and read the records."""

    def run_recorded(program, **environment):
        where = (
            log_recorder.environment() | {log_recorder.FOLDER: str(tmp_path), "PATH": os.environ["PATH"]} | environment
        )
        subprocess.run([sys.executable, "-c", program], env=where, cwd=tmp_path, check=True)
        own.assert_no_secrets()

    return run_recorded


def test_a_token_that_was_used_is_found_at_debug_level(run_recorded, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        run_recorded(LOGGED)


def test_a_token_is_found_that_was_logged_before_it_was_used(run_recorded, own):
    run_recorded(LOGGED)
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        own.assert_no_secrets_at_all()


def test_a_token_is_found_that_was_logged_by_a_name(run_recorded, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        run_recorded(f"import logging; logging.debug('%(token)s', {{'token': '{TOKEN}'}})")


def test_other_uuids_may_be_logged(run_recorded):
    run_recorded(LOGGED)


def test_a_forked_process_is_recorded(run_recorded, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        run_recorded(f"import os\nif os.fork(): os.wait()\nelse: {LOGGED}")


@pytest.mark.costly
def test_a_console_command_is_recorded(tmp_path, run_recorded, own):
    state = {"DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db", "APP_SECRETS_FILE": str(tmp_path / "secrets.json")}
    settings = state | {"FREPO_INI": str(ROOT / "development.ini"), "FS_LOCAL_DIRECTORY": str(tmp_path / "storage")}
    settings[log_recorder.BIG] = "1"
    given = str(uuid.uuid4())

    def frepo(*command):
        run_recorded(f"import subprocess; subprocess.run({[f'{BIN}/frepo', *command]}, check=True)", **settings)

    frepo("auth:create-token", "--roles", "upload.all", "--id", TOKEN)
    for _ in range(2):
        frepo("backup:create-collection", "-f", "a", "--id", given, "--ignore-error-if-exists")

    assert own.used == {TOKEN}
    assert f"sqlalchemy.engine.Engine: Row ('{given}'" in (tmp_path / "lines").read_text()


def test_the_mark_of_a_password_is_found_in_a_traceback(run_recorded):
    with pytest.raises(AssertionError, match="my-5ecre7"):
        run_recorded(
            "import logging\ntry: raise OSError('my-5ecre7')\nexcept OSError: logging.debug('oh', exc_info=True)"
        )


def test_a_password_without_the_mark_is_found(run_recorded):
    with pytest.raises(AssertionError, match="holds no MARK"):
        run_recorded("from frepo_core.services.access.passwords import Passwords; Passwords().hash('plain')")


def test_records_removed_by_a_filter_are_ignored(run_recorded, own):
    own.note(TOKEN)
    run_recorded(f"import logging; logging.getLogger('some.library').addFilter(lambda record: False); {LOGGED}")


@pytest.mark.costly
def test_both_ends_of_a_long_body_are_recorded(run_recorded):
    run_recorded("import logging; logging.debug('%s', {'body': b'x' * 10**6 + b'5ecre7' + b'x' * 10**6})")
    with pytest.raises(AssertionError, match="5ecre7"):
        run_recorded("import logging; logging.debug('%s', {'body': b'x' * 10**6 + b'5ecre7'})")
