"""Settings of the anti-hotlink protection that cannot have an effect."""

from frepo_core.services.access.protected_urls import ProtectedUrls
from frepo_core.settings import load_settings

ON = {"anti_hotlink.protection_enabled": "true"}


def messages(ini, caplog, extra):
    ProtectedUrls(load_settings(ini | {"database.url": "sqlite:///a.db"} | extra, {}))
    return [record.message for record in caplog.records if "ANTI_HOTLINK_SECRET_METHOD" in record.message]


def test_a_protection_without_a_template_is_warned_about(caplog):
    ini = {"app.env": "test", "app.secret": "a-5ecre7", "enc.token_phrase": "b-5ecre7"}

    assert len(messages(ini, caplog, ON)) == 1
    caplog.clear()
    assert messages(ini, caplog, ON | {"anti_hotlink.secret_method": "$filename x"}) == []
    assert messages(ini, caplog, {}) == []
