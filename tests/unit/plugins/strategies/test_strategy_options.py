"""Strategies with options, protected versions, and evictions that are optional or needed."""

from datetime import timedelta

import pytest
from pydantic import Field

from frepo_core.domain.limits import COUNT
from frepo_core.errors import ConfigurationError, FieldsError
from frepo_core.plugins import CollectionStrategy, Duration, StrategyOptions, StrategySpec
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.startup import warn_about_strategies
from support.own_plugins import acme_plugin, registry_with

ORIGIN = "the strategy 'thin' (the plug-in 'acme' of the package acme-thin 1.2.3)"


class Options(StrategyOptions):
    keep: int = Field(3, ge=1)
    label: str = "none"


class Thin(CollectionStrategy):
    """Keeps so many versions as the options say, even if there is room. A test may set another answer."""

    seen: list = []  # noqa: RUF012  # shared on purpose
    answer = None

    def make_room(self, collection, incoming):
        versions = list(collection.versions)
        self.seen.append((collection.options, [version.protected for version in versions]))
        if Thin.answer is not None:
            return Thin.answer(versions)
        return versions[: max(0, len(versions) + 1 - collection.options.keep)]


@pytest.fixture(autouse=True)
def script(monkeypatch):
    monkeypatch.setattr(Thin, "seen", [])
    monkeypatch.setattr(Thin, "answer", None)


def registry(options=Options):
    acme = acme_plugin(
        "acme-thin",
        strategies=[StrategySpec(name="thin", build=Thin, options=options), StrategySpec(name="plain", build=Thin)],
    )
    return registry_with(acme)


@pytest.fixture(scope="module")
def plugins():
    return registry()


@pytest.fixture
def identity(services, admin):
    return services.tokens.identify(admin, address="", user_agent="")


@pytest.fixture
def make(services):
    """Create a collection; return its record."""

    def make(**more):
        change = {"limits": {COUNT: 5}, "filename": "dump.sql", "strategy": "thin"} | more
        return services.collections.create(CollectionChange(**change), by=None)

    return make


@pytest.fixture
def edit(services, identity):
    def edit(collection, **more):
        return services.collections.edit(collection.id, CollectionChange(limits={}, **more), by=identity).collection

    return edit


def push_all(root, collection, count):
    """Push different contents; return the last status and the numbers of the versions that are left."""
    statuses = [root.push(collection, f"dump {number}".encode()).status_int for number in range(count)]
    return statuses[-1], sorted(int(number) for number in root.versions(collection))


def test_the_old_api_creates_collections_with_default_options(root, services):
    made = root.create(strategy="thin", maxBackupsCount=5).json["collection"]

    assert {"keep": 3, "label": "none"} == services.collections.get(made["id"]).strategy_options
    assert "strategyOptions" not in made


def test_options_are_stored_with_the_defaults_of_the_others(make, services):
    made = make(strategy_options={"keep": 2})

    assert {"keep": 2, "label": "none"} == services.collections.get(made.id).strategy_options


@pytest.mark.parametrize("text", ["36h", "P1DT12H"])
def test_a_duration_is_an_option(services, make, root, text):
    class Timed(StrategyOptions):
        rest: Duration = timedelta(days=7)

    services.plugins.strategies["thin"], older = registry(Timed).strategies["thin"], services.plugins.strategies["thin"]
    Thin.answer = staticmethod(lambda versions: [])
    try:
        made = make(strategy_options={"rest": text})
        root.push(made.id, b"a dump")
        with pytest.raises(FieldsError, match="Form validation"):
            make(strategy_options={"rest": "soon"})
    finally:
        services.plugins.strategies["thin"] = older

    assert ({"rest": "P1DT12H"}, timedelta(hours=36)) == (made.strategy_options, Thin.seen[-1][0].rest)


def test_a_strategy_gets_the_options_of_the_collection(root, make):
    made = make(strategy_options={"keep": 2})

    status, left = push_all(root, made.id, 4)

    assert (200, [3, 4]) == (status, left)
    assert Options(keep=2) == Thin.seen[-1][0]


def test_wrong_options_are_refused_and_named(make, edit, services):
    for options, fields in [
        ({"keep": 0}, {"strategy_options.keep"}),
        ({"keep": "many"}, {"strategy_options.keep"}),
        ({"kep": 3, "label": 5}, {"strategy_options.kep", "strategy_options.label"}),
    ]:
        made = make()

        with pytest.raises(FieldsError) as created:
            make(strategy_options=options)
        with pytest.raises(FieldsError) as edited:
            edit(made, strategy_options=options)

        assert fields == created.value.fields.keys() == edited.value.fields.keys()
        assert made.strategy_options == services.collections.get(made.id).strategy_options, options


def test_a_wrong_option_is_told_what_is_allowed(make):
    for options, message in [
        ({"keep": 0}, "Input should be greater than or equal to 1; given: 0"),
        ({"keep": "many"}, "Input should be a valid integer, unable to parse string as an integer; given: 'many'"),
        ({"kep": 3}, "the strategy 'thin' has no such option; its options: keep, label"),
    ]:
        with pytest.raises(FieldsError) as caught:
            make(strategy_options=options)

        assert [[message]] == list(caught.value.fields.values()), options


def test_options_for_a_strategy_without_options_are_refused(make):
    with pytest.raises(FieldsError) as caught:
        make(strategy="plain", strategy_options={"keep": 3})

    assert {"strategy_options": ["the strategy 'plain' has no options"]} == caught.value.fields


def test_an_edit_replaces_the_options(make, edit):
    made = make(strategy_options={"keep": 2, "label": "a"})

    assert {"keep": 4, "label": "none"} == edit(made, strategy_options={"keep": 4}).strategy_options


def test_another_edit_keeps_the_options(make, edit):
    made = make(strategy_options={"keep": 2})

    assert made.strategy_options == edit(made, description="nightly", strategy="thin").strategy_options


@pytest.mark.parametrize(("name", "expected"), [("thin", {"keep": 3, "label": "none"}), ("plain", None)])
def test_another_strategy_begins_with_its_defaults(make, edit, name, expected):
    options = {"keep": 2} if name == "plain" else None
    made = make(strategy="thin" if name == "plain" else "plain", strategy_options=options)

    assert expected == edit(made, strategy=name).strategy_options


def test_a_change_of_options_is_logged(make, edit, caplog):
    made = make()

    edit(made, strategy_options={"keep": 4})

    assert "strategy_options {'keep': 3, 'label': 'none'} -> {'keep': 4, 'label': 'none'}" in caplog.text


def test_options_that_do_not_fit_any_more_are_replaced_by_the_defaults_and_named(root, make, services, caplog):
    class Newer(StrategyOptions):
        days: int = 3

    made = make()
    newer = registry(Newer).strategies["thin"]
    services.plugins.strategies["thin"], older = newer, services.plugins.strategies["thin"]
    Thin.answer = staticmethod(lambda versions: [])
    try:
        answer = root.push(made.id, b"a dump")
        warn_about_strategies(services.database, services.plugins)
    finally:
        services.plugins.strategies["thin"] = older

    assert (200, Newer(days=3)) == (answer.status_int, Thin.seen[-1][0])
    assert ["1"] == list(root.versions(made.id))
    problem = (
        f"The options of the collection {made.id} do not fit {ORIGIN}: strategy_options.keep: the strategy 'thin' has"
    )
    at_upload, at_start = [line for line in caplog.messages if problem in line]
    assert "version 1 added" in at_upload
    assert "the defaults apply" in at_upload
    assert at_start.startswith(problem)
    assert "`frepo backup:edit" in at_start


def test_options_that_are_no_model_are_refused_at_the_start():
    for options, reason in [(dict, "options is <class 'dict'>"), ("Options", "options is 'Options'")]:
        with pytest.raises(TypeError, match=reason):
            StrategySpec(name="thin", build=Thin, options=options)
            pytest.fail(repr((options, reason)))


def test_options_without_a_default_are_refused_at_the_start():
    class Needy(StrategyOptions):
        days: int

    with pytest.raises(ValueError, match="the options of 'thin' have no default for days"):
        StrategySpec(name="thin", build=Thin, options=Needy)


def test_a_strategy_that_cannot_be_built_is_refused_at_the_start():
    acme = acme_plugin(
        "acme-thin",
        strategies=[StrategySpec(name="thin", build=lambda: 1 / 0)],
    )

    with pytest.raises(ConfigurationError, match=r"`build` of the strategy 'thin' .*acme-thin.* failed: ZeroDivision"):
        PluginRegistry([acme])


YOUNG = {"guards": {"min_retention": timedelta(days=1)}}


def test_a_strategy_sees_which_versions_are_protected(root, make):
    made = make(**YOUNG)

    push_all(root, made.id, 2)

    assert [True] == Thin.seen[-1][1]


def test_optional_evictions_of_protected_versions_are_left_out(root, make):
    made = make(strategy_options={"keep": 1}, **YOUNG)

    status, left = push_all(root, made.id, 3)

    assert (200, [1, 2, 3]) == (status, left)


def test_a_needed_eviction_of_a_protected_version_refuses_the_upload(root, make):
    made = make(strategy_options={"keep": 1}, limits={COUNT: 2}, **YOUNG)

    status, left = push_all(root, made.id, 3)

    assert (400, [1, 2]) == (status, left)


def test_an_optional_eviction_is_left_out_for_a_suspicious_version(root, make):
    made = make(strategy_options={"keep": 1}, guards={"min_version_size": 4, "action": "mark"})
    root.push(made.id, b"whole")

    answer = root.push(made.id, b"cut")

    assert (200, ["1", "2"]) == (answer.status_int, sorted(root.versions(made.id)))


def test_a_strategy_may_evict_every_version_although_there_is_room(root, make):
    made = make(strategy_options={"keep": 5})
    push_all(root, made.id, 2)
    Thin.answer = staticmethod(lambda versions: versions)

    answer = root.push(made.id, b"a dump")

    assert (200, ["3"]) == (answer.status_int, sorted(root.versions(made.id)))


def test_a_strategy_may_evict_every_version_if_each_has_to_leave(root, make):
    made = make(limits={COUNT: 1}, strategy_options={"keep": 1})

    status, left = push_all(root, made.id, 2)

    assert (200, [2]) == (status, left)
