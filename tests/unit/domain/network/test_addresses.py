"""Addresses and networks: their spellings, and lists of networks."""

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


@given(st.ip_addresses())
def test_an_address_is_read_as_written(address):
    unwrapped = getattr(address, "ipv4_mapped", None) or address

    assert unwrapped == parse_address(str(address))


def test_an_invalid_address_is_read_as_none():
    for text in ["", " ", "unknown", "1.2.3", "1.2.3.4.5", "[", "[]", "::1::", "example.org", "01.2.3.4"]:
        assert parse_address(text) is None


def test_an_entry_of_a_list_is_normalized():
    for text, usual in [
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
    ]:
        assert usual == normalize_network(text)


@given(st.ip_addresses(), st.data())
def test_a_normalized_entry_holds_the_same_addresses(address, data):
    length = data.draw(st.integers(0, address.max_prefixlen))

    assert parse_network(f"{address}/{length}") == parse_network(normalize_network(f"{address}/{length}"))


def test_other_entries_are_refused():
    for text in ["", "a", "192.0.2.1/33", "192.0.2", "2001:db8::/129", "192.0.2.1-192.0.2.9", "1"]:
        with pytest.raises(ValueError, match="does not appear to be"):
            normalize_network(text)
            pytest.fail(repr(text))


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


def test_a_list_does_not_allow_a_client_without_address():
    for client in ["", "unknown", "192.0.2"]:
        assert not is_allowed(client, ["0.0.0.0/0", "::/0"])


def test_both_kinds_may_be_in_one_list():
    for address in [IPv4Address("192.0.2.1"), IPv6Address("2001:db8::1")]:
        assert is_in_networks(ip_address(address), [ip_network("192.0.2.0/24"), ip_network("2001:db8::/32")])


def test_an_ipv4_client_of_an_ipv6_socket_is_an_ipv4_client():
    assert is_allowed("::ffff:203.0.113.7", ["203.0.113.0/24"])
    assert not is_allowed("::ffff:203.0.114.7", ["203.0.113.0/24"])
