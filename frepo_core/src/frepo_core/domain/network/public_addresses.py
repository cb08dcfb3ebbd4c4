"""Decides which addresses a URL may be fetched from, against requests to internal services (SSRF)."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Network, ip_address

from .addresses import Address, Network, is_in_networks

# RFC 6052, 2.1.
_NAT64 = IPv6Network("64:ff9b::/96")
# The global unicast addresses that are assigned so far (RFC 4291, 2.4; the IANA registry).
_PUBLIC = IPv6Network("2000::/3")
# Reserved for documentation (RFC 9637); older versions of Python call it global.
_DOCUMENTATION = IPv6Network("3fff::/20")


def may_fetch_from(text: str, allowed: Iterable[Network]) -> bool:
    """Return whether an address is public, or in one of the allowed networks.

    For an IPv6 address that contains IPv4 addresses (IPv4-mapped, 6to4, Teredo, NAT64), those decide.
    """
    address = ip_address(text.partition("%")[0])
    networks = list(allowed)
    if is_in_networks(address, networks):
        return True
    return all(is_in_networks(each, networks) or _is_public(each) for each in _embedded_or_same(address))


def _embedded_or_same(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return [address]
    embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    found: list[Address] = [each for each in embedded if each is not None]
    return found or [address]


def _is_public(address: Address) -> bool:
    if address.version == 6 and (address not in _PUBLIC or address in _DOCUMENTATION):
        return False
    return address.is_global and not address.is_multicast
