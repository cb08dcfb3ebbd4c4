"""Parses addresses and networks, and decides whether an address is in a list of networks."""

import functools
import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@functools.lru_cache(maxsize=1024)
def parse_address(text: str) -> Address | None:
    """Return the address without port and brackets, or None. IPv4-mapped ones become IPv4 (RFC 4291, 2.5.5.2)."""
    bare = text.strip().strip('"')
    if bare.startswith("["):
        bare = bare[1:].partition("]")[0]
    elif bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        address = ip_address(bare.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_in_networks(address: Address | None, networks: Iterable[Network]) -> bool:
    """Return whether the address is in one of the networks."""
    return address is not None and any(address in network for network in networks)


def parse_network(text: str) -> Network:
    """Parse an address or a network in CIDR notation (RFC 4632). Raises `ValueError`.

    An IPv4-mapped IPv6 network becomes IPv4.
    """
    network = ip_network(text.strip(), strict=False)
    mapped = getattr(network.network_address, "ipv4_mapped", None)
    if mapped is None or network.prefixlen < 96:
        return network
    return ip_network((mapped, network.prefixlen - 96))


def normalize_network(text: str) -> str:
    """Return an address or a network in its canonical form. Raises `ValueError`."""
    network = parse_network(text)
    return str(network if network.num_addresses > 1 else network.network_address)


def is_allowed(client: str, allowed: Sequence[str]) -> bool:
    """Return whether a token's list of networks allows the client; an empty list allows all clients."""
    return not allowed or is_in_networks(parse_address(client), (parse_network(text) for text in allowed))


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


_PATH = re.compile(r"(?:/(?!\.+(?:/|$))[\w.-]+)+", re.ASCII)


def parse_base_path(text: str) -> str:
    """Return the path without a slash at its end; that of the root is empty. Raises `ValueError`."""
    path = text.removesuffix("/")
    if path and not _PATH.fullmatch(path):
        raise ValueError("write a path of letters, digits, dots, dashes and underscores, such as /frepo")
    return path
