"""Nothing that cannot decode gets to encoded contents: a service without the libraries, or an older version."""

import pytest
from alembic import command
from sqlalchemy import inspect

from frepo_core.db import make_engine, migrations
from frepo_core.errors import ConfigurationError
from frepo_core.features.compact.encodings import libraries
from frepo_core.services.composition.startup import make_ready


def downgrade(services, revision):
    engine = make_engine(services.database.engine.url.render_as_string(hide_password=False))
    with engine.connect() as connection, migrations._without_foreign_keys(connection):
        config = migrations._config()
        config.attributes["connection"] = connection
        command.downgrade(config, revision)
        connection.commit()
    engine.dispose()


def test_the_start_is_refused_without_the_libraries(services, plugins, blobs, contents, uploaded, monkeypatch):
    def start():
        make_ready(services.database, services.settings, plugins, services.backends)

    monkeypatch.setattr(libraries, "_MISSING", "backports.zstd")
    start()
    monkeypatch.undo()
    blobs.encode(contents[0])
    start()
    monkeypatch.setattr(libraries, "_MISSING", "backports.zstd")

    with pytest.raises(ConfigurationError, match=r"1 contents are stored compressed.*'frepo-core\[compact\]'"):
        start()


def test_a_downgrade_to_blobs_is_refused_and_changes_nothing(services, blobs, contents, uploaded):
    blobs.encode(contents[0])

    with pytest.raises(ConfigurationError, match="Restore the database"):
        downgrade(services, "0044")

    assert "encoding" in {column["name"] for column in inspect(services.database.engine).get_columns("object")}
