"""The secrets that a recovery needs: whoever has set them is not asked to print them."""

from frepo_core.features.doctor.secrets import check_safe
from frepo_core.services.access import kept_secrets


def test_who_keeps_the_secrets_in_the_environment_is_not_asked_to_print_them(services):
    [found] = check_safe(services)

    assert ("ok", "") == (found.level.value, found.remedy)
    assert "are set in the environment or the ini file" in found.message


def test_secrets_that_were_made_here_are_to_be_printed(monkeypatch, services):
    monkeypatch.setattr("frepo_core.features.doctor.secrets.were_made_here", lambda settings: True)

    [found] = check_safe(services)
    kept_secrets.note_printed(services.database, services.settings)
    [printed] = check_safe(services)

    assert ("warning", "ok") == (found.level.value, printed.level.value)
    assert "`frepo install`" in found.remedy
