"""How much is read at once of a body that the application takes while it arrives.

Each piece costs the same, whatever its size.
"""

from typing import Any

# Few connections are read in larger pieces than `recv_bytes`. All together, they are read this much in turn, in bytes,
# before others are served.
TURN_READ = 8 << 20
LARGEST_READ = 2 << 20


def read_size(channel: Any) -> int:
    """Return how many bytes to read from a connection."""
    usual = int(channel.adj.recv_bytes)
    request = channel.request  # a worker may answer it meanwhile
    # Other bodies get room in steps, or wait for a decision: what is read beyond would need the disk.
    if request is None or request.feed is None:
        return usual
    return max(usual, min(LARGEST_READ, TURN_READ // len(channel._map)))
