"""Finds the client's address behind trusted proxies (X-Forwarded-For)."""

from collections.abc import Sequence
from ipaddress import IPv6Address, ip_network

from .addresses import Network, is_in_networks, parse_address


def client_address(peer: str, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """Return the client's address: the peer, or the last hop in X-Forwarded-For that is not a trusted proxy.

    Each proxy appends the address of its own peer, so the hops are read from the right. Only hops of trusted
    proxies count: clients can send the header, too. A hop that is not an address ends the search.
    """
    client = peer
    hops = [hop for hop in forwarded_for.split(",") if hop.strip()]
    while hops and is_in_networks(parse_address(client), trusted):
        address = parse_address(hops.pop())
        if address is None:
            break
        client = str(address)
    return str(parse_address(client) or client)


def client_network(address: str) -> str:
    """Return the network that one client has for itself: an IPv4 address, or the /64 of an IPv6 address."""
    parsed = parse_address(address)
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else address
