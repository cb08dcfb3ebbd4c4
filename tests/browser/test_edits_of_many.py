"""One change of many collections: a look at it changes nothing, and only what was touched is sent."""

import json

import pytest
from playwright.sync_api import expect

FIRST = {
    "name": "one.sql",
    "labels": ["prod", "db"],
    "expected_every": "P1D",
    "grace": "PT2H",
    "limits": {"versions": 7, "version_size": 1_000_000, "total_size": 50_000_000},
    "guards": {"max_shrink_percent": 30, "expects_kind": True, "on_suspicious": "mark", "min_retention": "P2D"},
}
SECOND = {
    "name": "two.sql",
    "labels": ["test"],
    "expected_every": "0 2 * * * Europe/Warsaw",
    "strategy": "keep",
    "strategy_options": {"daily": 5, "within": "30d"},
    "limits": {"versions": 30, "version_size": 1_000_000, "total_size": 50_000_000},
    "guards": {"max_growth_percent": 200, "expects_kind": False, "expects_change": True, "min_version_size": 10},
}
SETTINGS = (
    "labels",
    "expected_every",
    "grace",
    "strategy",
    "strategy_options",
    "limits",
    "guards",
    "storage",
    "mirror",
    "compact_group",
)


@pytest.fixture
def pair(api):
    made = [api("POST", "/collections", body)["id"] for body in (FIRST, SECOND)]
    yield made
    for one in made:
        api("DELETE", f"/collections/{one}?versions=trash")


@pytest.fixture
def settings(api, pair):
    return lambda: [{name: api("GET", f"/collections/{one}")[name] for name in SETTINGS} for one in pair]


@pytest.fixture
def sent(signed_in):
    """The bodies of the changes that the page sends."""
    bodies = []

    def note(request):
        if request.url.endswith("/collections:edit"):
            bodies.append(json.loads(request.post_data))

    signed_in.page.on("request", note)
    return bodies


def open_edit(console, what):
    console.go("#/more")
    console.go("#/collections?sort=name")
    console.page.get_by_role("checkbox", name="Select all").check()
    console.page.get_by_role("button", name=what).click()
    return console.page.get_by_role("dialog", name=f"{what} of 2 collections")


def preview(dialog):
    return dialog.get_by_role("region", name="What would change")


def test_a_look_at_a_change_applies_nothing(signed_in, pair, settings, sent):
    before = settings()
    dialog = open_edit(signed_in, "Retention")
    expect(dialog).to_contain_text("Nothing is changed yet.")
    expect(dialog.get_by_role("button", name="Change", exact=True)).to_be_disabled()
    dialog.get_by_label("Most versions", exact=True).fill("9")
    expect(preview(dialog)).to_contain_text("2 of 2 collections would change.")
    expect(preview(dialog)).to_contain_text("most versions: 7 → 9")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    signed_in.settle()

    assert before == settings()
    assert [True] == [body["dry_run"] for body in sent]
    assert {"limits": {"versions": 9}} == sent[0]["change"]


def with_change(before, name, value):
    group, _, field = name.partition(".")
    return [one | ({group: one[group] | {field: value}} if field else {group: value}) for one in before]


def test_only_the_field_that_was_touched_changes(signed_in, pair, settings, sent):
    for what, label, typed, name, value in [
        ("Retention", "Most versions", "9", "limits.versions", 9),
        ("Retention", "Largest size of all versions", "40 MB", "limits.total_size", 40_000_000),
        ("Guards", "Smallest believable version", "3 kB", "guards.min_version_size", 3000),
        ("Guards", "Keep each version at least for", "", "guards.min_retention", "PT0S"),
        ("Expected interval", "It may be late by", "3 hours", "grace", "PT3H"),
        ("Labels", "Labels", "all", "labels", ["all"]),
    ]:
        before = settings()
        sent.clear()
        dialog = open_edit(signed_in, what)
        if not typed:  # an empty field is a value, too
            dialog.get_by_role("checkbox", name=f"Change: {label}").check()
        dialog.get_by_label(label, exact=True).fill(typed)
        expect(preview(dialog)).to_be_visible()
        assert [] == signed_in.violations(), label
        with signed_in.page.expect_response("**/collections:edit"):
            dialog.locator(".btn.pri:enabled").click()
        expect(signed_in.page.get_by_role("status").filter(has_text="changed")).to_be_visible()

        assert with_change(before, name, value) == settings(), label
        assert [True, False] == [body["dry_run"] for body in sent], label


def test_a_choice_begins_as_it_is_and_can_be_left_again(signed_in, pair, settings, sent):
    before = settings()
    dialog = open_edit(signed_in, "Guards")
    kind = dialog.get_by_label("A version of another format")
    expect(kind.locator("option:checked")).to_have_text("as it is: Yes or No")
    kind.select_option("Yes")
    expect(preview(dialog)).to_contain_text("1 of 2 collections would change.")
    kind.select_option("as it is: Yes or No")
    expect(dialog).to_contain_text("Nothing is changed yet.")
    dialog.get_by_label("What to do with a suspicious version").select_option("Refuse it")
    dialog.get_by_role("button", name="Change 2 collections").click()
    expect(signed_in.page.get_by_role("status").filter(has_text="2 changed")).to_be_visible()

    assert with_change(before, "guards.on_suspicious", "refuse") == settings()


def test_the_line_says_what_happened_and_who_refused_it_in_the_words_of_the_form(signed_in, api, pair, settings):
    api("PUT", f"/collections/{pair[1]}/versions", bytes(range(250)) * 36)
    before = settings()
    dialog = open_edit(signed_in, "Retention")
    expect(dialog.get_by_label("Most versions", exact=True)).to_have_attribute("placeholder", "as it is")
    expect(dialog.get_by_label("Most versions", exact=True)).to_have_accessible_description("Now: 7 or 30")
    dialog.get_by_label("Largest version", exact=True).fill("100 bytes")
    dialog.get_by_label("Largest size of all versions", exact=True).fill("5000")
    expect(preview(dialog)).to_contain_text("1 refuse it")
    dialog.get_by_role("button", name="Change 1 collection", exact=True).click()
    line = signed_in.page.get_by_role("status").filter(has_text="1 changed, 1 refused")
    expect(line).to_contain_text("two.sql: ")
    assert "limits." not in line.inner_text() and "total_size" not in line.inner_text()

    assert before[1] == settings()[1]
    assert 5000 == settings()[0]["limits"]["total_size"]
