"""Nothing that cannot decode gets to encoded contents: a service without the libraries, or an older version."""

import pytest
from alembic import command
from sqlalchemy import inspect

from frepo_core.db import make_engine, migrations
from frepo_core.errors import ConfigurationError
from frepo_core.services.composition.startup import make_ready
from frepo_core.services.content.encodings import libraries


def downgrade(services, revision):
    """Downgrade from the revision that made the columns: later ones cannot be taken back at all."""
    engine = make_engine(services.database.engine.url.render_as_string(hide_password=False))
    with engine.connect() as connection, migrations._without_foreign_keys(connection):
        config = migrations._config()
        config.attributes["connection"] = connection
        command.stamp(config, "0040")
        command.downgrade(config, revision)
        connection.commit()
    engine.dispose()


def test_the_start_is_refused_without_the_libraries(services, plugins, blobs, contents, uploaded, monkeypatch):
    def start():
        make_ready(services.database, services.settings, plugins)

    monkeypatch.setattr(libraries, "_MISSING", "backports.zstd")
    start()
    monkeypatch.undo()
    blobs.encode(contents[0])
    start()
    monkeypatch.setattr(libraries, "_MISSING", "backports.zstd")

    with pytest.raises(ConfigurationError, match=r"1 contents are stored compressed.*'frepo-core\[compact\]'"):
        start()


def test_a_downgrade_is_refused_until_all_is_expanded(services, blobs, contents, uploaded):
    blobs.encode(contents[0])
    with pytest.raises(ConfigurationError, match="compact --expand"):
        downgrade(services, "0039")
    blobs.expand(contents[0])

    downgrade(services, "0039")
    assert "encoding" not in {column["name"] for column in inspect(services.database.engine).get_columns("blob")}
