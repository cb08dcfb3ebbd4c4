"""Values of the contract that several test modules send or check: fields, ids, digests and refusals."""

import base64
import hashlib

HELLO = hashlib.sha256(b"hello").hexdigest()
HELLO_DIGEST = f"sha-256=:{base64.b64encode(bytes.fromhex(HELLO)).decode()}:"

CHOSEN = "8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a"
# The id of a token. Logs contain ids of collections, but must not contain ids of tokens.
CHOSEN_TOKEN = "0c9d3ab4-6a3e-4d0e-8f5b-1e7a9c2d4b66"
NOBODY = "9b2ff1a2-8e2b-4d61-9d3c-8f6a3d6f1b11"

COUNT, ONE, TOTAL = "maxBackupsCount", "maxOneVersionSize", "maxCollectionSize"
SMALL = {COUNT: 5, ONE: "5MB", TOTAL: "25MB"}

GONE = {"form.collection": ["collection_no_longer_exists"]}
CLOSED = "No access to read the file, maybe invalid password?"
