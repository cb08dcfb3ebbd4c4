import hmac

from frepo_core.domain.anti_hotlink_hash import access_token, expand_template, has_expired, is_valid


def test_the_documented_check_value():
    values = {"http_x_expiration_time": "123", "http_test_header": "HELLO"}
    text = expand_template("$http_x_expiration_time$http_test_header MY-AWESOME-SUFFIX", values.__getitem__)

    assert access_token("md5", text, "") == "9bd4809201519ec0999f8279cf2f2cd6"


def test_a_link_expires_at_its_time():
    for expiration, over in [("100", True), ("101", False), ("99", True), ("", True), (None, False)]:
        assert has_expired(expiration, now=100.0) is over


def test_access_tokens_are_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair))

    is_valid("given", "expected")

    assert compared == [(b"given", b"expected")]
