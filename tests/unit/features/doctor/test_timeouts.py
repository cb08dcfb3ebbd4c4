"""What `frepo doctor` says about the timeouts of connections to the database."""

import pytest
from sqlalchemy import make_url

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.features.doctor.data import check_database

pytestmark = pytest.mark.databases("postgresql", "mariadb")
SET = {
    "postgresql": "Timeouts of each connection: lock_timeout 7000 ms, statement_timeout 10000 ms, "
    "idle_in_transaction_session_timeout 10000 ms, network 15 s",
    "mariadb": "Timeouts of each connection: innodb_lock_wait_timeout 7 s, max_statement_time 10 s, "
    "idle_transaction_timeout 10 s, net_read_timeout 15 s, network 15 s",
}


@pytest.fixture
def examine(ini, plugins, database_url):
    """Return what is found about a database with these parameters in its URL."""

    def examine(**query):
        url = make_url(database_url).update_query_dict(query).render_as_string(hide_password=False)
        services = assemble(ini | {"database.url": url, "database.lock_timeout": "7"}, {}, plugins)
        migrations.upgrade(services.database.engine)
        found = [finding.message for finding in check_database(services)]
        services.database.engine.dispose()
        return found

    return examine


def test_the_timeouts_in_force_are_shown(examine, database_kind):
    assert SET[database_kind] in examine()


@pytest.mark.databases("postgresql")
def test_a_timeout_of_the_url_has_precedence(examine):
    [message] = [text for text in examine(options="-c lock_timeout=70000") if "timeouts of the settings" in text]

    assert "lock_timeout is 70000 ms, not 7000 ms" in message
