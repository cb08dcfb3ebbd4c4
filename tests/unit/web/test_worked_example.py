"""The worked example of docs/new-feature.md is a whole feature: it runs as it stands there."""

import importlib
import re

import pytest

from frepo_core import features
from frepo_core.features import assembly
from support.paths import ROOT

BLOCK = re.compile(r"```python\n# (age/\w+\.py)\n(.+?)```", re.DOTALL)
FILES = dict(BLOCK.findall((ROOT / "docs/new-feature.md").read_text()))


@pytest.fixture(autouse=True)
def _with_the_feature(tmp_path, monkeypatch):
    (tmp_path / "age").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(features, "__path__", [*features.__path__, str(tmp_path)])
    feature = importlib.import_module("frepo_core.features.age.feature").FEATURE
    monkeypatch.setattr(assembly, "FEATURES", (*assembly.FEATURES, feature))


def test_it_answers_when_the_newest_version_arrived(root, push, collection):
    path = f"/api/v1/collections/{collection}/age"
    assert {"arrived_at": None} == root.get(path).json

    push(collection, b"content")

    [version] = root.get(f"/api/v1/collections/{collection}/versions").json["items"]
    assert {"arrived_at": version["created_at"]} == root.get(path).json
    assert 40 <= sum(bool(line.strip()) for text in FILES.values() for line in text.splitlines()) <= 65


def test_it_is_in_the_document_and_asks_for_a_token(app, anonymous, collection):
    path = "/api/v1/collections/{collection}/age"

    assert "show_age" == app.get("/api/v1/openapi.json").json["paths"][path]["get"]["operationId"]
    assert 401 == anonymous.get(f"/api/v1/collections/{collection}/age").status_int
