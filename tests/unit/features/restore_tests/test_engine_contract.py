"""The engines of the feature against their contract."""

import io
import tarfile

import pytest

from frepo_core.features.restore_tests.engines.own import ENGINES
from frepo_core.testing import RestoreEngineContract

BY_NAME = {engine.name: engine for engine in ENGINES}
DUMP = b"BEGIN TRANSACTION;\nCREATE TABLE a (b);\nINSERT INTO a VALUES(1);\nCOMMIT;\n"


class TestSqlite(RestoreEngineContract):
    @pytest.fixture
    def engine(self):
        return BY_NAME["sqlite"]

    @pytest.fixture
    def content(self):
        return DUMP

    @pytest.fixture
    def damaged(self):
        return DUMP[:-8]

    @pytest.fixture
    def question(self):
        return "SELECT count(*) FROM a", 1


class TestTar(RestoreEngineContract):
    @pytest.fixture
    def engine(self):
        return BY_NAME["tar"]

    @pytest.fixture
    def content(self):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as archive:
            for name in ("etc/passwd", "etc/nginx/nginx.conf"):
                member = tarfile.TarInfo(name)
                member.size = 600
                archive.addfile(member, io.BytesIO(bytes(600)))
        return file.getvalue()

    @pytest.fixture
    def damaged(self, content):
        return content[:1800]

    @pytest.fixture
    def question(self):
        return "files etc/nginx", 1
