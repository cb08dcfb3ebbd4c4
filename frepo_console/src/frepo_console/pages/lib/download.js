// Writes a download to disk while its digest is computed, without keeping it in memory.

import { Problem, headersWithToken } from "./api.js";
import { saveBlob } from "./save.js";
import { Hash } from "./sha256.js";
import { t } from "../texts.js";

/** Larger contents are kept in memory by no browser without the File System Access API: a link downloads them. */
export const MAX_IN_MEMORY = 256 * 1000 * 1000;

/**
 * Ask where to save a file. Return something with `write(bytes)`, `close()` and `abort()`; null if this browser can only
 * download by a link. Throws `AbortError` if the person cancels.
 */
export async function chooseTarget(name, size) {
  if (window.showSaveFilePicker) {
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    const writable = await handle.createWritable();
    return { write: (bytes) => writable.write(bytes), close: () => writable.close(), abort: () => writable.abort() };
  }
  if (size > MAX_IN_MEMORY) return null;
  const pieces = [];
  return { write: (bytes) => void pieces.push(bytes.slice()), close: () => saveBlob(new Blob(pieces), name), abort: () => {} };
}

/**
 * Fetch a content into a target; return its SHA-256. What has arrived is kept in `transfer.part`: a second try continues
 * there with a range. Throws `Problem`; status 0 if the connection was lost.
 */
export async function fetchToDisk({ transfer, url, target, signal }) {
  transfer.part ??= { hash: new Hash(), arrived: 0 };
  const { part } = transfer;
  const from = part.arrived;
  const headers = headersWithToken(from ? { Range: `bytes=${from}-`, "If-Range": part.tag } : {});
  try {
    const answer = await fetch(url, { headers, signal, cache: "no-store", credentials: "omit" });
    if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => ({})));
    if (from && answer.status !== 206) throw new Problem(409, { detail: t.transfers.changed });
    part.tag = answer.headers.get("ETag") ?? "";
    await pump(answer.body.getReader(), { transfer, target, part });
  } catch (error) {
    if (signal.aborted) {
      part.hash.stop();
      await target.abort();
    }
    if (error instanceof Problem || signal.aborted) throw error;
    throw new Problem(0, { detail: t.errors.offline });
  }
  await target.close();
  return part.hash.end();
}

async function pump(reader, { transfer, target, part }) {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    await target.write(value);
    part.arrived += value.length;
    part.hash.add(value);
    transfer.progress(part.arrived);
  }
  if (part.arrived < transfer.size) throw new Problem(0, { detail: t.errors.offline });
}
