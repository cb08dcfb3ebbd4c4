"""Verifies a report, see docs/evidence.md: verify_report.py REPORT.json KEY [FILE of a journal…]"""

import gzip
import json
import sys
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def canonical(value: object) -> bytes:  # noqa: D103
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


report, links = json.loads(Path(sys.argv[1]).read_bytes()), {}
signed = canonical({name: value for name, value in report.items() if name != "signature"})
try:
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(sys.argv[2])).verify(bytes.fromhex(report["signature"]), signed)
except (InvalidSignature, ValueError):
    sys.exit("WRONG: the report is not signed with this key, or it was changed")
for segment in (report["chain"] or sys.exit("WRONG: the report has no chain"))["segments"]:
    position, link = segment["after"], segment["link"]
    for entry in segment["entries"]:
        position, links[position] = position + 1, link
        if isinstance(entry, dict) and entry["position"] != position:
            sys.exit(f"WRONG: the event at position {position} is missing, or in another place")
        digest = entry if isinstance(entry, str) else sha256(canonical(entry)).hexdigest()
        link = sha256((link + digest).encode()).hexdigest()
    links[position] = link
    if link != segment["head"]:
        sys.exit(f"WRONG: an event up to position {position} was changed, left out or swapped")
heads = [json.loads(gzip.decompress(Path(file).read_bytes()).partition(b"\n")[0]) for file in sys.argv[3:]]
for head in heads + report["chain"]["anchors"]:
    position, link = head.get("linked", head.get("position")), head.get("link")
    if head.get("fits") is False or links.get(position, link) != link:
        sys.exit(f"WRONG: a storage has kept another link of position {position}: events were changed, or restored")
breaks = ", ".join(f"after {one['after']}: {one['begins']}" for one in report["chain"]["segments"])
sys.stdout.write(f"right: the signature, and the chain over {len(links)} positions; it begins {breaks}\n")
