// Computes a SHA-256 in a thread of its own, piece by piece: WebCrypto can only hash what is in memory as a whole.

import { sha256 } from "../vendor/noble-hashes/sha2.js";

const PIECE = 4 * 1024 * 1024;
let hash = sha256.create();

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Add bytes, and free them at once: hundreds of megabytes may wait for the next garbage collection otherwise. */
function update(bytes) {
  hash.update(bytes);
  bytes.buffer.transfer?.(0);
}

async function hashFile(file) {
  for (let start = 0; start < file.size; start += PIECE) {
    update(new Uint8Array(await file.slice(start, start + PIECE).arrayBuffer()));
  }
}

// It says `{isReady: true}` once. `{file}` hashes a file and answers; `{piece}` adds bytes and says how many; `{end: true}` answers.
onmessage = async ({ data }) => {
  try {
    if (data.piece) {
      const { length } = data.piece;
      update(data.piece);
      postMessage({ hashed: length });
    }
    if (data.file) await hashFile(data.file);
    if (data.file || data.end) postMessage({ digest: hex(hash.digest()) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
postMessage({ isReady: true });
