"""Fixtures of the schema tests: each test has its own database."""

import pytest


@pytest.fixture
def database_url(fresh_database_url):
    return fresh_database_url
