"""Each test runs on the database that it names."""

import pytest
from sqlalchemy import make_url


@pytest.mark.databases
def test_the_services_are_on_the_database_that_the_test_names(services, database_url):
    named, url = make_url(database_url), services.database.engine.url

    assert (named.get_backend_name(), named.port, named.database) == (url.get_backend_name(), url.port, url.database)
