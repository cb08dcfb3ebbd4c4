"""Verifies a report, see docs/evidence.md: verify_report.py REPORT.json KEY [FILE of a journal…]"""

import gzip
import json
import sys
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
sure = lambda is_right, text: is_right or sys.exit(f"WRONG: {text}")  # noqa: E731
once = lambda pairs: sure(len(dict(pairs)) == len(pairs), "a member is there twice") and dict(pairs)  # noqa: E731
report, links = json.loads(Path(sys.argv[1]).read_bytes(), object_pairs_hook=once), {}
try:
    signature, key = bytes.fromhex(report.pop("signature", "")), bytes.fromhex(sys.argv[2])
    Ed25519PublicKey.from_public_bytes(key).verify(signature, canonical(report).encode())
except (InvalidSignature, ValueError):
    sys.exit("WRONG: the report is not signed with this key, or it was changed")
chain = sure(report.get("chain", {"segments": [], "anchors": [], "restored": [], "unlinked": 0}), "it has no chain")
for number, segment in enumerate(chain["segments"]):
    position, link, is_break = segment["after"], segment["link"], segment["begins"] in {"changed", "missing"}
    sure(not is_break and not number, f"position {position} does not follow from the one before, or that is missing")
    for entry in segment["entries"]:
        links[position], position = link, position + 1
        sure(isinstance(entry, str) or entry["position"] == position, f"position {position} has another event")
        digest = entry if isinstance(entry, str) else sha256(canonical(entry).encode()).hexdigest()
        link = sha256((link + digest).encode()).hexdigest()
    sure(links.setdefault(position, link) == segment["head"], f"an event up to {position} was changed or left out")
heads = [json.loads(gzip.decompress(Path(file).read_bytes()).split(b"\n")[0]) for file in sys.argv[3:]]
for one in chain["restored"]:  # what came after the backup is lost
    heads = [head for head in heads if head.get("linked", 0) <= one["after"] or head["made_at"] >= one["at"]]
sure(all(one.get("linked") in links for one in heads), "a file of a journal says nothing of the events in this report")
for head in heads + chain["anchors"] + chain["restored"]:
    position, link = head.get("linked", head.get("position", head.get("after"))), head.get("link")
    sure(head.get("fits") is not False and links.get(position, link) == link, f"a storage has another link: {position}")
breaks = "".join(f" after {one['after']}: {one['begins']}," for one in chain["segments"] + chain["restored"])
text = f"the chain over {len(links)} positions; it begins{breaks} and {chain['unlinked']} events have no link"
sys.stdout.write(f"right: the signature, and {text}\n")
