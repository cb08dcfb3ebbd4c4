// Data of views: they are read when a view opens, and again every few seconds while the tab is visible.

import { createContext, useContext, useEffect, useRef, useState } from "./html.js";
import { Problem, read } from "./api.js";

export const POLL_SECONDS = 15;
/** The rows of the first page of a list; a phone has room for fewer. */
export const SCREENFUL = matchMedia("(max-width: 40rem)").matches ? 20 : 50;
const SLOW_MS = 200;
const MAX_ITEMS = 500;
/** @type {Omit<Resource, "reload" | "retry">} */
const START = { data: null, error: null, hasMoreFailed: false, isSlow: false, at: null };

/**
 * Read a resource of the API. `path` null: nothing is read.
 *
 * Return `{data, error, isSlow, at, reload, retry}`. With an error, `data` is what was read before, and `retry()`
 * repeats what failed. `isSlow` is true while the first answer is missing for more than 200 ms, so that nothing
 * flickers.
 */
export function useResource(path, { query = {}, every = POLL_SECONDS } = {}) {
  const key = path === null ? null : JSON.stringify([path, query]);
  return useReading(key, () => read(path, { query }), every);
}

/** The overview, which the frame reads for itself and for all views. */
export const Overview = createContext(/** @type {any} */ (null));
const FRESH_MS = 1000;

/** The overview of the frame. It is read again when a view opens, unless that was done just now. */
export function useOverview() {
  const overview = useContext(Overview);
  useEffect(() => {
    if (overview.at && Date.now() - overview.at.getTime() > FRESH_MS) overview.reload();
  }, []);
  return overview;
}

/**
 * Read a list of the API page by page. Return that of `useResource` with `items`, `hasMore` and `more()`.
 *
 * What is shown is refreshed as one page, so lists of more than 500 shown items stay as they are until they are opened
 * again. `name` says which list of this path it is: give it if `query` has a time that moves with the clock. The rows
 * of the same list stay, and are read with the current query.
 */
export function useList(path, { query = {}, name = query, limit = SCREENFUL, every = POLL_SECONDS } = {}) {
  const key = path === null ? null : JSON.stringify([path, name, limit]);
  const wanted = useRef({ key: /** @type {string | null} */ (null), count: 0 });
  if (wanted.current.key !== key) wanted.current = { key, count: limit };
  const load = async (shown, isMore) => {
    const { count } = wanted.current;
    if (count <= MAX_ITEMS) return read(path, { query: { ...query, limit: count } });
    if (!isMore) return undefined;
    const { items, next } = await read(path, { query: { ...query, limit, cursor: shown.next } });
    return { items: [...shown.items, ...items], next };
  };
  const { readMore, hasMoreFailed, ...list } = useReading(key, load, every);
  const more = async () => {
    const asked = wanted.current;
    asked.count += limit;
    if (!(await readMore())) asked.count -= limit;
  };
  const retry = hasMoreFailed ? more : list.retry;
  return { ...list, items: list.data?.items ?? null, hasMore: Boolean(list.data?.next), more, retry };
}

/** Read `resource` again each time when `changes` has changed. It has been read already when the component appears. */
export function useReload(resource, changes) {
  const seen = useRef(changes);
  useEffect(() => {
    if (seen.current !== changes) resource.reload();
    seen.current = changes;
  }, [changes]);
}

/** Read all pages of a list, at most `most` items. */
export async function readAll(path, { query = {}, most = 2000 } = {}) {
  const items = [];
  for (let cursor = ""; cursor !== null && items.length < most;) {
    const page = await read(path, { query: { ...query, limit: MAX_ITEMS, cursor } });
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

/**
 * Read all pages of a list, at most `most` items. After the first one it is read from both ends of the order `sort` until
 * they meet: each page names the next one, so two are on their way at once.
 */
export async function readFromBothEnds(path, { query = {}, sort, most = 2000 }) {
  const found = new Map();
  let isMet = false;
  const readPage = async (order, cursor) => {
    const page = await read(path, { query: { ...query, sort: order, limit: MAX_ITEMS, cursor } });
    isMet ||= page.next === null || page.items.some((one) => found.has(one.id));
    for (const one of page.items) found.set(one.id, one);
    return page.next;
  };
  const readOn = async (order, next) => {
    for (let cursor = next; !isMet && found.size < most;) cursor = await readPage(order, cursor);
  };
  const next = await readPage(sort, "");
  await Promise.all([readOn(sort, next), readOn(`-${sort}`, "")]);
  return [...found.values()].slice(0, most);
}

/**
 * Call `load(shown, isMore)` now and every few seconds, as long as `key` is the same. It throws `Problem`, or returns
 * undefined if nothing changes. `isMore` is true for `readMore()`, which returns whether it succeeded.
 *
 * @param {string | null} key
 * @param {(shown: any, isMore: boolean) => Promise<any>} load
 * @returns {Resource & { readMore: () => Promise<boolean> }}
 */
export function useReading(key, load, every = POLL_SECONDS) {
  const [state, setState] = useState({ ...START, key });
  const latest = useRef({ load, every });
  latest.current = { load, every };
  const poll = useRef(NOTHING);
  useEffect(() => {
    setState({ ...START, key });
    if (key === null) return undefined;
    poll.current = startPolling(key, latest, setState);
    return poll.current.stop;
  }, [key]);
  const shown = state.key === key ? state : { ...START, key };
  const reload = () => poll.current.now();
  return { ...shown, reload, retry: reload, readMore: () => poll.current.now(true) };
}

/** @type {{ now(isMore?: boolean): Promise<boolean>; stop(): void }} */
const NOTHING = { now: async () => false, stop() {} };

function startPolling(key, latest, setState) {
  let isStopped = false;
  let timer;
  let current = { ...START, key };
  let begun = 0;
  let newest = 0; // the number of the reading whose data are shown: one that began earlier and ends later is not
  const change = (more) => !isStopped && setState((current = { ...current, ...more }));
  const slow = setTimeout(() => current.at || current.error || change({ isSlow: true }), SLOW_MS);
  const now = async (isMore = false) => {
    clearTimeout(timer);
    const number = ++begun;
    try {
      const data = await latest.current.load(current.data, isMore);
      if (data === undefined || number < newest) return true;
      newest = number;
      change({ data, error: null, hasMoreFailed: false, isSlow: false, at: new Date() });
      return true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (number > newest) change({ error, hasMoreFailed: isMore || current.hasMoreFailed, isSlow: false });
      return false;
    } finally {
      clearTimeout(timer);
      if (!isStopped && latest.current.every) timer = setTimeout(turn, latest.current.every * 1000);
    }
  };
  const turn = () => (document.visibilityState === "visible" ? now() : undefined);
  document.addEventListener("visibilitychange", turn);
  now();
  const stop = () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(slow);
    document.removeEventListener("visibilitychange", turn);
  };
  return { now, stop };
}

/** The current time, which changes every `seconds`: relative times stay right. */
export function useNow(seconds = 30) {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return now;
}
