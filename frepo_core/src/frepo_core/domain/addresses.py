"""Client addresses: who the client is behind proxies, and whether an address is on a list."""

import functools
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@functools.lru_cache(maxsize=1024)
def parse_address(text: str) -> Address | None:
    """Return the address, an IPv4 one that is wrapped in IPv6 unwrapped; ports and brackets are dropped."""
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


def is_in(address: Address | None, networks: Iterable[Network]) -> bool:
    """Tell whether the address lies in one of the networks."""
    return address is not None and any(address in network for network in networks)


def client_address(peer: str, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """Return the client's address: the peer, or behind trusted proxies the last hop that is not one of them.

    `forwarded_for` is X-Forwarded-For, walked from the right; what cannot be read ends the walk.
    """
    client = peer
    hops = [hop for hop in forwarded_for.split(",") if hop.strip()]
    while hops and is_in(parse_address(client), trusted):
        address = parse_address(hops.pop())
        if address is None:
            break
        client = str(address)
    return str(parse_address(client) or client)


def client_network(address: str) -> str:
    """Return what stands for one client: an IPv4 address, or the /64 of an IPv6 one, which a client has for itself."""
    parsed = parse_address(address)
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else address


def parse_network(text: str) -> Network:
    """Return an address or CIDR as a network, an IPv4 one that is wrapped in IPv6 unwrapped; raises `ValueError`."""
    network = ip_network(text.strip(), strict=False)
    wrapped = getattr(network.network_address, "ipv4_mapped", None)
    if wrapped is None or network.prefixlen < 96:
        return network
    return ip_network((wrapped, network.prefixlen - 96))


def check_network(text: str) -> str:
    """Return an address or CIDR in its usual spelling; raises `ValueError`."""
    network = parse_network(text)
    return str(network if network.num_addresses > 1 else network.network_address)


def is_allowed(client: str, allowed: Sequence[str]) -> bool:
    """Tell whether a client's address is on a token's list; an empty list allows all."""
    return not allowed or is_in(parse_address(client), (parse_network(text) for text in allowed))
