"""A service with protected URLs."""

import pytest
from webtest import TestApp

from frepo_core import assemble
from frepo_core.web import make_app

TEMPLATE = "$http_x_expiration_time$http_test_header MY-AWESOME-SUFFIX"


@pytest.fixture
def ini(ini):
    return ini | {"anti_hotlink.protection_enabled": "true", "anti_hotlink.secret_method": TEMPLATE}


@pytest.fixture
def file(app, admin):
    return app.post(f"/repository/file/upload?fileName=a.txt&_token={admin}", b"content").json["filename"]


@pytest.fixture
def with_settings(ini):
    """Make another application over the same database, with other settings."""
    made = []

    def make(**settings):
        more = {f"anti_hotlink.{name}": value for name, value in settings.items()}
        made.append(assemble(ini | more, {}))
        return TestApp(make_app(made[-1]))

    yield make
    for services in made:
        services.database.engine.dispose()
