"""What plug-ins show in places of the web console: what is refused at the start, and what the API says about it."""

import pytest
from webtest import TestApp

from frepo_core.errors import ConfigurationError
from frepo_core.features.inventory.plugin_offers import offers_of
from frepo_core.plugins import ConsoleSlot, Pages
from frepo_core.services.access.tokens import NewToken
from frepo_core.web import make_app


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pages"
    (folder / "deep").mkdir(parents=True)
    for name in ("index.html", "card.js", "deep/tab.mjs"):
        (folder / name).write_text("")
    (tmp_path / "secret.js").write_text("")
    return folder


def slot(name="paint", module="paint/card.js", place="collection.card", **more):
    return ConsoleSlot(place=place, name=name, title="Paint", module=module, **more)


def offers(folder, *slots, **more):
    return {"pages": lambda: [Pages(path="paint", folder=folder, title="Paint", **more)], "console_slots": slots}


def test_the_api_names_the_slots_with_their_packages(assembled, folder):
    of_walls = {"applies_to": ("strategy:keep_daily", "label:walls")}
    slots = [slot(), slot("colours", "paint/deep/tab.mjs", "collection.tab", **of_walls)]
    services = assembled(offers(folder, *slots))
    app = TestApp(make_app(services))
    token = services.tokens.generate(NewToken(roles=[], expires="never")).id

    about = app.get("/api/v1", headers={"Authorization": f"Bearer {token}"}).json

    named = [one for one in about["slots"] if one["package"] == "acme-paint"]
    assert [
        ("collection.card", "paint", "Paint", "/paint/card.js"),
        ("collection.tab", "colours", "Paint", "/paint/deep/tab.mjs"),
    ] == [(one["place"], one["name"], one["title"], one["module"]) for one in named]
    assert [[], ["strategy:keep_daily", "label:walls"]] == [one["applies_to"] for one in named]
    assert [200, 200] == [app.get(one["module"]).status_int for one in named]


@pytest.mark.parametrize("module", ["paint/nothing.js", "ui/main.js", "uploads/open_uploads.js"])
def test_a_module_that_is_no_file_of_the_own_pages_stops_the_start(assembled, folder, module):
    services = assembled(offers(folder, slot(module=module)))

    with pytest.raises(
        ConfigurationError, match=f"of the package acme-paint 1.2.3 declares .*'{module}'.*paths: paint"
    ):
        make_app(services)


def test_a_module_of_versioned_pages_stops_the_start(assembled, folder):
    services = assembled(offers(folder, slot(), is_versioned=True))

    with pytest.raises(ConfigurationError, match="not versioned. Their paths: none"):
        make_app(services)


def test_a_module_that_is_not_below_pages_is_refused():
    for module in ["card.js", "/paint/card.js", "paint/../a.js", "https://example.org/card.js", "paint/card.css", ""]:
        with pytest.raises(ValueError, match="write the path of pages and a file"):
            slot(module=module)


def test_a_place_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="place is 'menu'; write one of collection.tab"):
        slot(place="menu")


@pytest.mark.parametrize("applies_to", ["strategy:keep_daily", ("keep_daily",), ("label:",)])
def test_only_a_strategy_or_a_label_chooses_collections(applies_to):
    with pytest.raises(ValueError, match=r"write \('strategy:NAME', 'label:LABEL'\)"):
        slot(applies_to=applies_to)


def test_a_place_about_no_collection_has_none_to_choose():
    with pytest.raises(ValueError, match=r"overview\.card is not about a collection"):
        slot(place="overview.card", applies_to=("label:walls",))


def test_two_plugins_cannot_take_one_name(assembled, folder):
    with pytest.raises(ConfigurationError, match="Two packages provide the ConsoleSlot 'paint'"):
        assembled(offers(folder, slot()), {"console_slots": [slot()]})


def test_the_list_of_plugins_names_the_slots(assembled, folder):
    services = assembled(offers(folder, slot()))
    [plugin] = [one for one in services.plugins.found if one.name == "acme"]

    assert ("console slot", "paint", "Paint, at collection.card") in [
        (offer.kind, offer.name, offer.summary) for offer in offers_of(plugin, None, "local")
    ]
