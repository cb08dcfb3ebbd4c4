// Data of views: they are read when a view opens, and again every few seconds while the tab is visible.

import { useCallback, useEffect, useRef, useState } from "./html.js";
import { Problem, read } from "./api.js";

const POLL_SECONDS = 15;
const SLOW_MS = 200;
const MAX_ITEMS = 500;
const START = { data: null, error: null, isSlow: false, at: null };

/**
 * Read a resource of the API. `path` null: nothing is read.
 *
 * Return `{data, error, isSlow, at, reload}`. With an error, `data` is what was read before. `isSlow` is true while the
 * first answer is missing for more than 200 ms, so that nothing flickers.
 */
export function useResource(path, { query = {}, every = POLL_SECONDS } = {}) {
  const key = path === null ? null : JSON.stringify([path, query]);
  return useReading(key, () => read(path, { query }), every);
}

/**
 * Read a list of the API page by page. Return that of `useResource` with `items`, `hasMore` and `more()`.
 *
 * What is shown is refreshed as one page, so lists of more than 500 shown items stay as they are until they are opened
 * again.
 */
export function useList(path, { query = {}, limit = 50, every = POLL_SECONDS } = {}) {
  const key = path === null ? null : JSON.stringify([path, query, limit]);
  const pages = useRef({ key: null, count: 0, items: [], next: null });
  const isLong = pages.current.items.length > MAX_ITEMS;
  const load = async () => {
    const known = pages.current.key === key ? pages.current.items.length : 0;
    if (known > MAX_ITEMS) return { ...pages.current };
    const page = await read(path, { query: { ...query, limit: Math.min(MAX_ITEMS, Math.max(limit, known)) } });
    pages.current = { key, items: page.items, next: page.next };
    return pages.current;
  };
  const list = useReading(key, load, isLong ? 0 : every);
  const more = async () => {
    const page = await read(path, { query: { ...query, limit, cursor: pages.current.next } });
    pages.current = { key, items: [...pages.current.items, ...page.items], next: page.next };
    list.show(pages.current);
  };
  return { ...list, items: list.data?.items ?? null, hasMore: Boolean(list.data?.next), more };
}

/** Read all pages of a list, at most `most` items. */
export async function readAll(path, { query = {}, most = 2000 } = {}) {
  const items = [];
  for (let cursor = ""; cursor !== null && items.length < most; ) {
    const page = await read(path, { query: { ...query, limit: MAX_ITEMS, cursor } });
    items.push(...page.items);
    cursor = page.next;
  }
  return items;
}

/** Call `load` now and every few seconds, as long as `key` is the same. `load` throws `Problem`. */
export function useReading(key, load, every = POLL_SECONDS) {
  const [state, setState] = useState({ ...START, key });
  const latest = useRef({});
  latest.current = { load, every };
  const reload = useRef(() => {});
  useEffect(() => {
    setState({ ...START, key });
    if (key === null) return undefined;
    const poll = startPolling(key, latest, setState);
    reload.current = poll.now;
    return poll.stop;
  }, [key]);
  const shown = state.key === key ? state : { ...START, key };
  const show = useCallback((data) => setState({ key, data, error: null, isSlow: false, at: new Date() }), [key]);
  return { ...shown, reload: () => reload.current(), show };
}

function startPolling(key, latest, setState) {
  let isStopped = false;
  let timer;
  let begun = 0;
  let shown = 0; // the number of the reading that is shown: an older one that ends later is not
  const slow = setTimeout(() => setState((old) => (old.at || old.error ? old : { ...old, isSlow: true })), SLOW_MS);
  const show = (number, next) => {
    if (isStopped || number < shown) return;
    shown = number;
    setState(next);
  };
  const now = async () => {
    clearTimeout(timer);
    const number = ++begun;
    try {
      const data = await latest.current.load();
      show(number, { key, data, error: null, isSlow: false, at: new Date() });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      show(number, (old) => ({ ...old, key, error, isSlow: false }));
    }
    clearTimeout(timer);
    if (!isStopped && latest.current.every) timer = setTimeout(turn, latest.current.every * 1000);
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
