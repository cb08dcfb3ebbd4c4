"""Tests of the schema get a database of their own."""

import pytest


@pytest.fixture
def database_url(fresh_database_url):
    return fresh_database_url
