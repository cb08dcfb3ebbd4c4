"""Which addresses a fetched URL may lead to."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Network, ip_address

from .addresses import Address, Network, is_in

_NAT64 = IPv6Network("64:ff9b::/96")
# All of IPv6 that is routed in public (RFC 4291, 2.4), without the documentation block that Python may not know yet.
_PUBLIC = IPv6Network("2000::/3")
_DOCUMENTATION = IPv6Network("3fff::/20")


def may_reach(text: str, allowed: Iterable[Network]) -> bool:
    """Tell whether an address is public, or in one of the allowed networks.

    IPv6 addresses that stand for an IPv4 one (mapped, 6to4, Teredo, NAT64) are judged by that one.
    """
    address = ip_address(text.partition("%")[0])
    networks = list(allowed)
    if is_in(address, networks):
        return True
    return all(is_in(meaning, networks) or _is_public(meaning) for meaning in _meanings(address))


def _meanings(address: Address) -> list[Address]:
    if isinstance(address, IPv4Address):
        return [address]
    embedded = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        embedded.append(IPv4Address(int(address) & 0xFFFFFFFF))
    found: list[Address] = [meaning for meaning in embedded if meaning is not None]
    return found or [address]


def _is_public(address: Address) -> bool:
    if address.version == 6 and (address not in _PUBLIC or address in _DOCUMENTATION):
        return False
    return address.is_global and not address.is_multicast
