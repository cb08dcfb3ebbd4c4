"""The client's address: behind trusted proxies the first hop from the right that is not one."""

from ipaddress import ip_network

from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.network.addresses import client_address, is_in_networks, parse_address

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


def test_examples():
    for peer, forwarded_for, client in [
        ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "192.0.2.1:4711", "192.0.2.1"),
        ("10.0.0.1", '"[2001:db8::1]:4711"', "2001:db8::1"),
        ("10.0.0.1", "[2001:DB8::1]", "2001:db8::1"),
        ("10.0.0.1", "192.0.2.9,,192.0.2.1,", "192.0.2.1"),
        ("", "192.0.2.1", ""),
        ("10.0.0.1", "192.0.2.1, 10.0.0.2, 10.0.0.3", "192.0.2.1"),
    ]:
        assert client == client_address(peer, forwarded_for, PROXIES)
