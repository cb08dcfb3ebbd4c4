"""Each guard that is taken out of the code of the service breaks a promise: the model's shortest story shows it."""

import pytest

from model.faults import OTHERS, SEEN
from model.guards import Guards
from model.real.breaks import BREAKS
from model.real.other_breaks import STORIES
from model.real.places import settings
from model.real.site import Site
from model.real.telling import NotDoneError
from model.walk import walk

FAULTS = {fault.guard: fault for fault in (SEEN | OTHERS).values()}


@pytest.fixture
def tell(open_services, ini, tmp_path):
    """Let a service do the steps of the story of a guard; return what is broken then. `breaks`: without the guard."""
    ini = settings(ini, tmp_path)

    def tell(guard: str, *, breaks: bool) -> str:
        folder = tmp_path / "service"
        folder.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            if breaks:
                (BREAKS | STORIES)[guard].patch(patch)
            site = Site(folder, lambda folder: open_services(folder, ini), patch)
            try:
                if guard in STORIES:
                    return STORIES[guard].tell(site, tmp_path / "other")
                for what in walk(FAULTS[guard].world, Guards(**{guard: False})).story:
                    site.do(what)
                return BREAKS[guard].look(site, tmp_path / "other")
            finally:
                site.close()

    return tell


@pytest.mark.parametrize("guard", [*BREAKS, *STORIES])
def test_without_its_guard_the_code_breaks_a_promise(tell, guard: str):
    assert tell(guard, breaks=True) != ""


@pytest.mark.costly
@pytest.mark.parametrize("guard", [*BREAKS, *STORIES])
def test_with_its_guard_the_code_keeps_it(tell, guard: str):
    try:
        broken = tell(guard, breaks=False)
    except NotDoneError:  # it refuses a step
        return
    assert broken == ""
