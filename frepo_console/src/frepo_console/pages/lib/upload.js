// Sends a file with its progress, and compares its digest with that of what the service stored.

import { Problem, headersWithToken } from "./api.js";
import { loadHash } from "./sha256.js";
import { t } from "../texts/transfers.js";

// The digest of a file up to this size, in bytes, is computed first and sent along: the service refuses other content.
// That of a larger one is computed while the file is sent, and compared at the end.
const HASHED_FIRST = 64_000_000;

/**
 * Send a file; return the answer, `existed` if the service had its content. A second try has the same idempotency key:
 * an upload whose answer was lost is not stored twice.
 *
 * Throws `Problem`: status 0 if the connection was lost, 422 if other bytes were stored.
 */
export async function sendFile({ transfer, url, method, file, headers, signal }) {
  const part = await transfer.continueWith(() => newPart(file), signal);
  const isFirst = file.size <= HASHED_FIRST;
  if (isFirst) transfer.set({ state: "hashing", message: t.transfers.hashing });
  const digest = isFirst ? reprDigest(await part.digest) : {};
  signal.throwIfAborted();
  const sent = { ...headers, ...digest, "Idempotency-Key": part.key };
  const progress = (moved) => transfer.progress(moved);
  const { status, responseText } = await sendBody({ url, method, body: file, headers: sent, signal, progress });
  const answer = { ...parsed(responseText), existed: status === 200 };
  transfer.set({ state: "checking", message: t.transfers.checking });
  if (answer.sha256 && (await part.digest) !== answer.sha256) throw new Problem(422, { detail: t.transfers.differs });
  return answer;
}

async function newPart(file) {
  const hash = await loadHash();
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join(
    "",
  );
  return { hash, key, digest: hash.file(file) };
}

/** The header that names a SHA-256, given in hexadecimal (RFC 9530). */
function reprDigest(digest) {
  const bytes = digest.match(/../g).map((pair) => parseInt(pair, 16));
  return { "Repr-Digest": `sha-256=:${btoa(String.fromCharCode(...bytes))}:` };
}

/**
 * Send a body; return the request with its answer. Only XMLHttpRequest reports the progress; the browser reads a file
 * from the disk meanwhile. Throws `Problem`: status 0 if the connection was lost.
 *
 * @returns {Promise<XMLHttpRequest>}
 */
export function sendBody({ url, method, body, headers, signal, progress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(
      headersWithToken({ "Content-Type": "application/octet-stream", ...headers }),
    ))
      request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => {
      if (request.status < 300) resolve(request);
      else reject(new Problem(request.status, parsed(request.responseText)));
    };
    request.onerror = () => reject(new Problem(0, { detail: t.errors.offline }));
    request.onabort = () => reject(new Problem(0, { detail: t.transfers.cancelled }));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(body);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
