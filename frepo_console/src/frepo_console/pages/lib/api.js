// The client of `/api/v1`: the token of this tab, requests with it, problem details (RFC 9457) as errors, and ETags.

import { inWords, t } from "../texts.js";

// The token is in sessionStorage, which a tab has for itself, or only in memory if the person says so.
const KEY = "frepo.token";
const listeners = new Set();
let token = sessionStorage.getItem(KEY);

export const currentToken = () => token;

/** Call `listener` after each sign in and sign out. Return a function that ends this. */
export function onSessionChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function signIn(value, { isKept = true } = {}) {
  token = value;
  sessionStorage.removeItem(KEY);
  if (isKept) sessionStorage.setItem(KEY, value);
  for (const listener of listeners) listener();
}

/** Forget the token. `reason` is shown on the page to sign in. */
export function signOut(reason = "") {
  if (token === null) return;
  token = null;
  sessionStorage.removeItem(KEY);
  for (const listener of listeners) listener(reason);
}

/**
 * Take the token of a link `/ui/#token=...`, and remove it from the address bar and the history. Return the token if
 * another session runs, which it must not replace without a question; otherwise sign in with it, and return null.
 */
export function takeTokenFromLink() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", "#/");
  let value = found[1];
  try {
    value = decodeURIComponent(value);
  } catch {
    // It is not encoded.
  }
  if (token !== null) return value === token ? null : value;
  signIn(value);
  return null;
}

export const API = new URL("../api/v1", document.baseURI).href;

// The last answer of each GET with its ETag, so that an unchanged answer is neither sent nor parsed again.
const answers = new Map();
const MAX_ANSWERS = 100;

/**
 * A refused request. `status` is 0 if there was no answer. `fields` has the message of each wrong field; that of an
 * element of a list, such as `labels.0`, is at the field that has the list.
 */
export class Problem extends Error {
  constructor(status, body = {}) {
    super(inWords(body.detail || body.title || t.errors.unknown(status)));
    this.status = status;
    this.title = body.title ?? "";
    this.code = body.code ?? status;
    this.context = body.context ?? {};
    this.fields = Object.fromEntries(
      (body.errors ?? []).map((wrong) => [wrong.field.replace(/\.\d+$/, ""), inWords(wrong.message)]),
    );
  }

  get isTemporary() {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** The URL of a path below `/api/v1`. A list in `query` repeats its parameter; empty values are left out. */
export function apiUrl(path, query = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") found.append(name, one);
    }
  }
  const text = found.toString();
  return `${API}${path}${text ? `?${text}` : ""}`;
}

/** Join parts of a path; each is encoded. */
export const path = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");

export const headersWithToken = (more = {}) => ({ Authorization: `Bearer ${currentToken()}`, ...more });

/**
 * Send a request; return the parsed body, null if it has none. Throws `Problem`, or `AbortError` if `signal` ends it.
 *
 * @param {string} method
 * @param {string} path
 * @param {RequestOptions} options
 */
export async function send(method, path, { query, body, headers = {}, signal } = {}) {
  const more = body === undefined ? {} : { "Content-Type": method === "PATCH" ? MERGE_PATCH : "application/json" };
  const answer = await answerOf(apiUrl(path, query), {
    method,
    headers: headersWithToken({ ...more, ...headers }),
    body: body === undefined ? undefined : JSON.stringify(body),
    signal,
  });
  return answer.status === 204 ? null : bodyOf(answer);
}

const MERGE_PATCH = "application/merge-patch+json";

/**
 * Read a resource. If it has not changed since the last time, return the same object as then.
 *
 * @param {string} path
 * @param {{ query?: Record<string, unknown> }} options
 */
export async function read(path, { query } = {}) {
  const url = apiUrl(path, query);
  const known = answers.get(url);
  const headers = headersWithToken(known ? { "If-None-Match": known.tag } : {});
  const answer = await answerOf(url, { headers });
  if (answer.status === 304) return known.body;
  const body = await bodyOf(answer);
  const tag = answer.headers.get("ETag");
  answers.delete(url);
  if (tag) answers.set(url, { tag, body });
  if (answers.size > MAX_ANSWERS) answers.delete(answers.keys().next().value);
  return body;
}

/** Forget all answers: they belong to the token of the last session. */
export const forgetAnswers = () => answers.clear();

/** Whether the caller has ended the request. */
export const isAbort = (error) => error instanceof DOMException && error.name === "AbortError";

/** Fetch a URL; return the answer if it is no error. Throws what `send` does. Nothing is sent after a sign out. */
export async function answerOf(url, options) {
  if (token === null) throw new Problem(401, { detail: t.errors.refusedToken });
  const sentWith = token;
  let answer;
  try {
    answer = await fetch(url, { cache: "no-store", credentials: "omit", redirect: "error", ...options });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(0, { detail: t.errors.offline });
  }
  if (answer.ok || answer.status === 304) return answer;
  // A late answer to the token of an earlier session says nothing about that of this one.
  if (answer.status === 401 && sentWith === token) signOut(t.errors.refusedToken);
  throw await problemOf(answer);
}

/** The parsed body. One that is cut off, or no JSON, is as good as no answer. */
async function bodyOf(answer) {
  try {
    return await answer.json();
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem(0, { detail: t.errors.offline });
  }
}

const problemOf = async (answer) => new Problem(answer.status, await answer.json().catch(() => ({})));
