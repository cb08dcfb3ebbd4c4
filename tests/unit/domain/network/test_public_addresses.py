from ipaddress import ip_network

from frepo_core.domain.network.public_addresses import may_fetch_from

LOOPBACK = (ip_network("127.0.0.2/32"),)


def test_public_addresses_may_be_reached():
    for address in ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2001:4860:4860::8888"]:
        assert may_fetch_from(address, ())


def test_special_ipv4_addresses_may_not_be_reached():
    for address in [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
    ]:
        assert not may_fetch_from(address, ())


def test_special_ipv6_addresses_may_not_be_reached():
    for address in [
        "::",
        "::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
    ]:
        assert not may_fetch_from(address, ())


def test_ipv6_look_alikes_of_special_ipv4_addresses_may_not_be_reached():
    for address in [
        "::127.0.0.1",
        "::10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1",
        "64:ff9b:1::127.0.0.1",
        "2002:7f00:1::1",
        "2002:a00:1::1",
        "2001:0:0808:0808:0:ffff:80ff:fffe",
        "2001:0:7f00:1:0:ffff:f7f7:f7f7",
    ]:
        assert not may_fetch_from(address, ())


def test_translated_public_addresses_may_be_reached():
    for address in ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]:
        assert may_fetch_from(address, ())


def test_an_allowed_address_may_be_reached_in_every_spelling():
    for address in ["127.0.0.2", "::ffff:127.0.0.2", "64:ff9b::127.0.0.2"]:
        assert may_fetch_from(address, LOOPBACK)


def test_the_neighbour_of_an_allowed_address_may_not_be_reached():
    assert not may_fetch_from("127.0.0.3", LOOPBACK)


def test_an_allowed_network_of_look_alikes_is_taken_as_written():
    assert may_fetch_from("64:ff9b::10.1.2.3", (ip_network("64:ff9b::10.1.0.0/112"),))


def test_an_allowed_ipv4_network_says_nothing_of_ipv6():
    assert not may_fetch_from("::1", (ip_network("0.0.0.0/0"),))
