"""The check of the test suite's logs (`secret_watch`, `servers.log_recorder`) finds a secret in any process."""

import os
import subprocess
import sys
import uuid

import pytest

from support.secret_watch import Heard
from support.servers import log_recorder
from support.servers.service import BIN, ROOT

TOKEN = str(uuid.uuid4())
LOGGED = f"import logging; logging.getLogger('some.library').debug('no secret: %s', '{TOKEN}')"


@pytest.fixture
def own(tmp_path):
    (tmp_path / "lines").touch()
    (tmp_path / "secrets").touch()
    heard = Heard(tmp_path)
    heard.note = lambda secret: (tmp_path / "secrets").write_text(f"{secret}\n")
    return heard


@pytest.fixture
def listen(tmp_path, own):
    """Run a program whose logs are recorded, and read the records."""

    def listen(program, **environment):
        where = (
            log_recorder.environment() | {log_recorder.FOLDER: str(tmp_path), "PATH": os.environ["PATH"]} | environment
        )
        subprocess.run([sys.executable, "-c", program], env=where, cwd=tmp_path, check=True)
        own.assert_discreet()

    return listen


def test_a_token_that_was_used_is_found_at_debug_level(listen, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        listen(LOGGED)


def test_a_token_is_found_that_was_logged_before_it_was_used(listen, own):
    listen(LOGGED)
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        own.assert_all_discreet()


def test_a_token_is_found_that_was_logged_by_a_name(listen, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        listen(f"import logging; logging.debug('%(token)s', {{'token': '{TOKEN}'}})")


def test_other_uuids_may_be_logged(listen):
    listen(LOGGED)


def test_a_forked_process_is_recorded(listen, own):
    own.note(TOKEN)
    with pytest.raises(AssertionError, match=TOKEN):
        listen(f"import os\nif os.fork(): os.wait()\nelse: {LOGGED}")


def test_a_console_command_is_recorded(tmp_path, listen, own):
    state = {"DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db", "APP_SECRETS_FILE": str(tmp_path / "secrets.json")}
    settings = state | {"FREPO_INI": str(ROOT / "development.ini"), "FS_LOCAL_DIRECTORY": str(tmp_path / "storage")}
    given = str(uuid.uuid4())

    def frepo(*command):
        listen(f"import subprocess; subprocess.run({[f'{BIN}/frepo', *command]}, check=True)", **settings)

    frepo("auth:create-token", "--roles", "upload.all", "--id", TOKEN)
    for _ in range(2):
        frepo("backup:create-collection", "-f", "a", "--id", given, "--ignore-error-if-exists")

    assert own.used == {TOKEN}
    assert f"sqlalchemy.engine.Engine: Row ('{given}'" in (tmp_path / "lines").read_text()


def test_the_mark_of_a_password_is_found_in_a_traceback(listen):
    with pytest.raises(AssertionError, match="my-5ecre7"):
        listen("import logging\ntry: raise OSError('my-5ecre7')\nexcept OSError: logging.debug('oh', exc_info=True)")


def test_a_password_without_the_mark_is_found(listen):
    with pytest.raises(AssertionError, match="holds no MARK"):
        listen("from frepo_core.services.access.passwords import Passwords; Passwords().hash('plain')")


def test_records_removed_by_a_filter_are_ignored(listen, own):
    own.note(TOKEN)
    listen(f"import logging; logging.getLogger('some.library').addFilter(lambda record: False); {LOGGED}")


def test_both_ends_of_a_long_body_are_recorded(listen):
    listen("import logging; logging.debug('%s', {'body': b'x' * 10**6 + b'5ecre7' + b'x' * 10**6})")
    with pytest.raises(AssertionError, match="5ecre7"):
        listen("import logging; logging.debug('%s', {'body': b'x' * 10**6 + b'5ecre7'})")
