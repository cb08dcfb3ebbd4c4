"""A service with `/metrics`, and what it answers."""

import re

import pytest
from webtest import TestApp

from frepo_core.web import make_app

CODE = "code-5ecre7"
LINE = re.compile(r"(\w+)(?:{(.*)})? (\S+)")


@pytest.fixture
def ini(ini):
    return ini | {"metrics.code": CODE}


@pytest.fixture
def app(services):
    """An application of its own: the endpoint of a plug-in has the context of one service."""
    return TestApp(make_app(services))


@pytest.fixture
def scrape(app):
    """Return the samples of `/metrics`: the value by name and labels."""

    def scrape():
        text = app.get(f"/metrics?code={CODE}").text
        found = {}
        for line in text.splitlines():
            if match := LINE.fullmatch(line):
                labels = frozenset(re.findall(r'(\w+)="([^"]*)"', match[2] or ""))
                found[match[1], labels] = float(match[3])
        return Samples(found)

    return scrape


class Samples:
    """Samples of a scrape; `samples("name", label="value")` is the sum of those that have these labels."""

    def __init__(self, found):
        self.found = found

    def __call__(self, name, /, **labels):
        values = [v for (n, have), v in self.found.items() if n == name and set(labels.items()) <= have]
        return sum(values) if values else None
