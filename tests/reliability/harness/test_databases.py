"""Each test runs on the database that it names."""

import pytest
from sqlalchemy import make_url

from support.servers import mariadb, postgresql


@pytest.mark.databases
def test_the_services_are_on_the_database_that_the_test_names(services, database_url):
    named, url = make_url(database_url), services.database.engine.url

    assert (named.get_backend_name(), named.port, named.database) == (url.get_backend_name(), url.port, url.database)


@pytest.mark.parametrize(("module", "start"), [(mariadb, mariadb._run), (postgresql, postgresql.postgresql)])
def test_a_server_whose_port_is_taken_by_another_one_does_not_start(monkeypatch, request, module, start):
    """Both have the same users: the tests would use the other one, until its worker stops it."""
    name = module.__name__.rpartition(".")[2]
    other = make_url(request.getfixturevalue(f"{name}_server").url)
    monkeypatch.setattr(module, "free_port", lambda: other.port)

    with pytest.raises(RuntimeError, match="did not start"), start():
        pass
