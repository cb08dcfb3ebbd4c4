"""The client's address (http-api.md, 1.1): the first hop from the right that is not a trusted proxy."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.network.addresses import (
    is_allowed,
    is_in_networks,
    normalize_network,
    parse_address,
    parse_network,
)
from frepo_core.domain.network.client_address import client_address

PROXIES = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
TRUSTED = st.one_of(st.ip_addresses(network="10.0.0.0/8"), st.ip_addresses(network="fd00::/8")).map(str)
UNTRUSTED = (
    st.ip_addresses()
    .filter(lambda address: not is_in_networks(parse_address(str(address)), PROXIES))
    .map(lambda address: str(parse_address(str(address))))
)
ANY = st.one_of(TRUSTED, UNTRUSTED)


@given(UNTRUSTED, st.text())
def test_a_header_of_an_untrusted_peer_is_ignored(peer, forwarded_for):
    assert peer == client_address(peer, forwarded_for, PROXIES)


@given(ANY, st.lists(ANY).map(", ".join))
def test_with_no_trusted_proxy_the_peer_is_the_client(peer, forwarded_for):
    assert peer == client_address(peer, forwarded_for, [])


@given(TRUSTED, st.lists(ANY), UNTRUSTED, st.lists(TRUSTED, max_size=3), st.sampled_from([",", ", ", " ,  "]))
def test_the_first_untrusted_hop_from_the_right_is_the_client(peer, forged, client, proxies, comma):
    assert client == client_address(peer, comma.join([*forged, client, *proxies]), PROXIES)


@given(TRUSTED, st.lists(TRUSTED, min_size=1, max_size=5))
def test_if_all_hops_are_trusted_the_leftmost_is_the_client(peer, hops):
    assert hops[0] == client_address(peer, ", ".join(hops), PROXIES)


@given(TRUSTED, UNTRUSTED, st.sampled_from(["unknown", "_hidden", "1.2.3", "::g", "10.0.0.1.1"]))
def test_an_unreadable_hop_ends_the_search(peer, forged, nonsense):
    assert client_address(peer, f"{forged}, {nonsense}", PROXIES) == peer


@given(TRUSTED)
def test_a_proxy_without_forwarded_addresses_is_the_client(peer):
    assert peer == client_address(peer, "", PROXIES)


@given(st.text(), st.text())
def test_no_header_causes_an_error(peer, forwarded_for):
    assert isinstance(client_address(peer, forwarded_for, PROXIES), str)


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.1:4711", "192.0.2.1"),
        ("10.0.0.1", '"[2001:db8::1]:4711"', "2001:db8::1"),
        ("10.0.0.1", "[2001:DB8::1]", "2001:db8::1"),
        ("10.0.0.1", "192.0.2.9,,192.0.2.1,", "192.0.2.1"),
        ("", "192.0.2.1", ""),
        ("10.0.0.1", "192.0.2.1, 10.0.0.2, 10.0.0.3", "192.0.2.1"),
    ],
)
def test_examples(peer, forwarded_for, client):
    assert client == client_address(peer, forwarded_for, PROXIES)


@given(st.ip_addresses())
def test_an_address_is_read_as_written(address):
    unwrapped = getattr(address, "ipv4_mapped", None) or address

    assert unwrapped == parse_address(str(address))


@pytest.mark.parametrize(
    "text", ["", " ", "unknown", "1.2.3", "1.2.3.4.5", "[", "[]", "::1::", "example.org", "01.2.3.4"]
)
def test_an_invalid_address_is_read_as_none(text):
    assert parse_address(text) is None


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("192.0.2.1/32", "192.0.2.1"),
        ("192.0.2.77/24", "192.0.2.0/24"),
        (" 192.0.2.1 ", "192.0.2.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8::1/128", "2001:db8::1"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
    ],
)
def test_an_entry_of_a_list_is_normalized(text, usual):
    assert usual == normalize_network(text)


@given(st.ip_addresses(), st.data())
def test_a_normalized_entry_holds_the_same_addresses(address, data):
    length = data.draw(st.integers(0, address.max_prefixlen))

    assert parse_network(f"{address}/{length}") == parse_network(normalize_network(f"{address}/{length}"))


@pytest.mark.parametrize("text", ["", "a", "192.0.2.1/33", "192.0.2", "2001:db8::/129", "192.0.2.1-192.0.2.9", "1"])
def test_other_entries_are_refused(text):
    with pytest.raises(ValueError, match="does not appear to be"):
        normalize_network(text)


@given(st.ip_addresses())
def test_an_empty_list_allows_everyone(address):
    assert is_allowed(str(address), [])


@given(st.ip_addresses(), st.data())
def test_a_network_allows_the_addresses_in_it(address, data):
    # All of IPv6 does not mean IPv4, although it can be wrapped in it.
    shortest = 96 if getattr(address, "ipv4_mapped", None) else 0
    length = data.draw(st.integers(shortest, address.max_prefixlen))

    assert is_allowed(str(address), [normalize_network(f"{address}/{length}")])


@given(st.ip_addresses(), st.ip_addresses())
def test_an_address_allows_only_itself(address, other):
    same = parse_address(str(address)) == parse_address(str(other))

    assert same == is_allowed(str(other), [normalize_network(str(address))])


@pytest.mark.parametrize("client", ["", "unknown", "192.0.2"])
def test_a_list_does_not_allow_a_client_without_address(client):
    assert not is_allowed(client, ["0.0.0.0/0", "::/0"])


@pytest.mark.parametrize("address", [IPv4Address("192.0.2.1"), IPv6Address("2001:db8::1")])
def test_both_kinds_may_be_in_one_list(address):
    assert is_in_networks(ip_address(address), [ip_network("192.0.2.0/24"), ip_network("2001:db8::/32")])
