// Writes a download to disk while its digest is computed, without keeping it in memory.

import { Problem, headersWithToken } from "./api.js";
import { readPieces } from "./pieces.js";
import { saveBlob } from "./save.js";
import { loadHash } from "./sha256.js";
import { t } from "../texts/transfers.js";

/** Without the File System Access API, larger contents are downloaded by a link: the page would keep them in memory. */
export const MAX_IN_MEMORY = 32 * 1000 * 1000;

/**
 * Ask where to save a file. Return a function that opens it, for something with `write(bytes)`, `close()` and
 * `abort()`; null if this browser can only download by a link. Throws `AbortError` if the person cancels.
 *
 * @param {string} name
 * @param {number} size
 * @returns {Promise<(() => Target | Promise<Target>) | null>}
 */
export async function chooseTarget(name, size) {
  if (window.showSaveFilePicker) {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    return () => handle.createWritable();
  }
  return size > MAX_IN_MEMORY ? null : () => openInMemory(name);
}

function openInMemory(name) {
  const pieces = [];
  return {
    write: (bytes) => void pieces.push(bytes.slice()),
    close: () => saveBlob(new Blob(pieces), name),
    abort: () => {},
  };
}

/**
 * Fetch a content into a target, and compare its SHA-256. What has arrived is kept in `transfer.part`: a second try
 * continues there with a range. The file gets its bytes at the end, if the digest is right.
 *
 * Throws `Problem`: status 0 if the connection was lost, 422 if the digest is wrong.
 */
export async function fetchToDisk({ transfer, url, target, sha256, signal }) {
  const part = await transfer.continueWith(() => newPart(target), signal);
  const from = part.arrived;
  const headers = headersWithToken(from ? { Range: `bytes=${from}-`, "If-Range": part.tag } : {});
  try {
    // With all bytes there, only the last answer's end was lost: there is no range left to ask for.
    if (from === 0 || from < transfer.size) {
      const answer = await fetch(url, { headers, signal, cache: "no-store", credentials: "omit" });
      if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
      if (from && answer.status !== 206) throw new Problem(409, { detail: t.transfers.changed });
      part.tag = answer.headers.get("ETag") ?? "";
      await pump(answer.body, { transfer, part, signal });
    }
  } catch (error) {
    // The browser reports a lost connection as a TypeError; a full disk is a DOMException.
    if (error instanceof TypeError) throw new Problem(0, { detail: t.errors.offline });
    throw error instanceof Problem
      ? error
      : new Error(t.transfers.notWritten(error instanceof Error ? error.message : String(error)));
  }
  transfer.set({ state: "checking", message: t.transfers.checking });
  const digest = await part.hash.end();
  if (sha256 && digest !== sha256) throw new Problem(422, { detail: t.transfers.damagedDownload });
  await part.file.close();
}

async function newPart(target) {
  const hash = await loadHash();
  return { hash, file: await target(), arrived: 0 };
}

async function pump(body, { transfer, part, signal }) {
  await readPieces(
    body,
    () => part.hash.reuse(),
    async (bytes) => {
      signal.throwIfAborted(); // some bytes may have arrived before
      const { length } = bytes;
      await part.file.write(bytes);
      await part.hash.add(bytes);
      signal.throwIfAborted();
      part.arrived += length;
      transfer.progress(part.arrived);
    },
  );
  signal.throwIfAborted();
  if (part.arrived < transfer.size) throw new Problem(0, { detail: t.errors.offline });
}
