// Computes a SHA-256 in a thread of its own, piece by piece: WebCrypto can only hash what is in memory as a whole.

import { sha256 } from "../vendor/noble-hashes/sha2.js";
import { readFile } from "./pieces.js";

let hash = sha256.create();

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// It says `{isReady: true}` once. `{file}` hashes a file and answers; `{piece}` adds bytes, says how many, and gives
// their memory back; `{end: true}` answers.
onmessage = async ({ data }) => {
  try {
    if (data.piece) {
      const { length, buffer } = data.piece;
      hash.update(data.piece);
      postMessage({ hashed: length, buffer }, { transfer: [buffer] });
    }
    if (data.file) await readFile(data.file, (bytes) => hash.update(bytes));
    if (data.file || data.end) postMessage({ digest: hex(hash.digest()) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
postMessage({ isReady: true });
