"""The view Health: checks, damage, jobs, storages, settings and plug-ins."""

import re

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role
from support.scale import first_of


@pytest.fixture(scope="module", autouse=True)
def damaged(service, api):
    """A collection whose only version lost its bytes, which the job verify has found."""
    made = api("POST", "/collections", {"name": "erp & co.sql.gz"})
    version = api("PUT", f"/collections/{made['id']}/versions", b"precious")
    next(service.storage.glob(f"{version['sha256'][:2]}/*")).unlink()
    return made


@pytest.fixture
def health(signed_in):
    signed_in.go("#/health")
    expect(signed_in.page.get_by_role("heading", name="Jobs")).to_be_visible()
    return signed_in.page


def unfold(page):
    """Show the jobs that are fine, too."""
    page.get_by_text(re.compile(r"^(All )?\d+ (other )?jobs fine$")).click()


def job(page, name):
    return page.get_by_role("listitem").filter(has=page.get_by_text(name, exact=True))


def test_a_check_has_a_name_in_words_and_names_no_command(signed_in):
    def answer(route):
        names = ("storage_archive", "trash_archive", "locks", "collection_problems", "acme_disk")
        fine = [{"name": name, "good": True, "problems": []} for name in names]
        bad = {"name": "blobs", "good": False, "problems": ["2 blobs are damaged, storage:verify lists them"]}
        route.fulfill(json={"good": False, "checks": [bad, *fine], "checked_at": "2026-11-30T00:00:00Z"})

    signed_in.page.route("**/api/v1/health", answer)
    signed_in.go("#/health")
    signed_in.page.get_by_text("5 other checks fine").click()

    card = signed_in.page.get_by_role("listitem").filter(has_text="Stored contents")
    expect(card).to_contain_text("2 contents are damaged, see below")
    for name in ("Storage archive", "Trash in archive", "Locks", "Problems that plug-ins report", "Acme disk"):
        expect(signed_in.page.get_by_text(name, exact=True)).to_be_visible()
    signed_in.page.unroute("**/api/v1/health")


@pytest.mark.costly
def test_a_job_runs_on_request_and_its_damage_is_listed(health, damaged):
    expect(health.get_by_text(re.compile(r"^All \d+ jobs fine$"))).to_be_visible()
    expect(health.get_by_text(re.compile(r"^\d+ other checks? fine$|^All \d+ checks fine$"))).to_be_visible()
    expect(health.get_by_role("button", name="Run now")).to_have_count(0)
    unfold(health)
    run = job(health, "verify").get_by_role("button", name="Run now")
    run.click()
    expect(job(health, "verify")).to_contain_text("damaged 1", timeout=30_000)
    health.reload()

    expect(health.get_by_role("heading", name="1 check has found problems")).to_be_visible()
    found = health.get_by_role("listitem").filter(has_text="Upload the same content again")
    expect(found.get_by_role("link", name="erp & co.sql.gz")).to_have_attribute(
        "href", f"#/collections/{damaged['id']}"
    )
    titles = health.locator("main h2").all_inner_texts()
    assert ["Checks", "Damage", "Jobs"] == titles[:3]
    unfold(health)
    health.get_by_role("button", name="History of verify").click()
    expect(health.get_by_role("dialog", name="History of verify")).to_contain_text("checked 1, size 8 bytes, damaged 1")
    health.keyboard.press("Escape")
    expect(health.get_by_role("dialog")).to_have_count(0)
    expect(health).to_have_url(re.compile("#/health$"))


@pytest.mark.costly
def test_the_storage_in_use_is_named(health):
    row = health.get_by_role("listitem").filter(has_text="new contents go here")

    expect(row).to_contain_text("local")
    expect(row).to_contain_text("free")


@pytest.mark.costly
def test_what_a_fire_of_the_storage_would_cost_is_said_when_somebody_asks(health, api):
    api("PUT", f"/collections/{api('POST', '/collections', {'name': 'burns.sql'})['id']}/versions", b"burns")

    health.get_by_text("If a storage burns").click()

    row = health.get_by_role("listitem").filter(has_text="If it burns")
    expect(row).to_contain_text(re.compile(r"local.*If it burns, \d+ contents? \(.* are lost", re.DOTALL))
    expect(row).to_contain_text("read within 30 days")


def test_settings_are_searched_and_secrets_masked(signed_in, health):
    health.get_by_role("link", name="Settings").click()
    health.get_by_label("Search settings").fill("app.secret")
    secret = health.get_by_role("row").filter(has=health.get_by_text("app.secret", exact=True))
    expect(secret).to_contain_text("***")
    health.get_by_label("Only those that are set").check()
    health.get_by_label("Search settings").fill("no such setting")

    expect(health.get_by_text("No setting matches")).to_be_visible()


@pytest.mark.costly
def test_plugins_are_listed_with_what_they_offer(signed_in, health):
    signed_in.go("#/health/plugins")

    expect(health.get_by_role("row").filter(has_text="frepo-console")).to_contain_text("Web console")


@pytest.mark.costly
def test_who_may_not_run_jobs_is_not_offered_it(console, api):
    console.sign_in(api.token(Role.VIEW_JOBS), "#/health")
    expect(console.page.get_by_role("heading", name="Jobs")).to_be_visible()

    expect(console.page.get_by_role("button", name="Run now")).to_have_count(0)
    expect(console.page.get_by_role("link", name="Settings")).to_have_count(0)


@pytest.mark.costly
@pytest.mark.parametrize(("theme", "width"), first_of([("dark", "wide"), ("light", "phone")]))
def test_axe_finds_nothing(open_console, service, theme, width):
    console = open_console(theme=theme, width=width)
    console.sign_in(service.admin)
    for fragment in ("#/health", "#/health/settings?q=app", "#/health/plugins", "#/health?job=verify"):
        console.go(fragment)
        assert [] == console.violations()
