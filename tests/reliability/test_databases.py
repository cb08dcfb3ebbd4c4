"""The suite runs where it says it runs."""

import pytest


@pytest.mark.on("sqlite", "postgresql", "mariadb")
def test_the_services_are_on_the_database_that_the_test_names(services, database_url):
    url = services.database.engine.url.render_as_string(hide_password=False)

    assert database_url.partition("://")[2] == url.partition("://")[2].removesuffix("?charset=utf8mb4")
