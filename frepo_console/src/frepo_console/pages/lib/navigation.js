// Where the page is, and the keys that lead somewhere: the state of the page is in the fragment of its URL, such as
// `#/collections?state=late`. Each can be bookmarked; back works.

import { useEffect, useMemo, useRef, useState } from "./html.js";

/** Return the fragment for a list of parts of a path and a query; empty values are left out. */
export function link(parts, query = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one) found.append(name, one);
  }
  const text = found.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text ? `?${text}` : ""}`;
}

/** Return where the page is: `parts` of the path and `query` (URLSearchParams). */
export function currentRoute() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query ?? "") };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function go(parts, query) {
  location.hash = link(parts, query);
}

/** Change parameters of the current URL; empty values are removed. A new entry of the history unless `isTyping`. */
export function changeQuery(changes, { isTyping = false } = {}) {
  const { parts, query } = currentRoute();
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) if (one) query.append(name, one);
  }
  const text = query.toString();
  const target = `${link(parts)}${text ? `?${text}` : ""}`;
  if (!isTyping) location.hash = target;
  else {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}

/** The current route; the component is drawn again when it changes. */
export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    changed(); // it may have changed since the component was drawn
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return useMemo(currentRoute, [hash]);
}

// Shortcuts of one key, or of `g` and one key. They do nothing in a field, in a dialog, or if they are switched off.
const OFF = "frepo.shortcuts-off";
const WAIT_MS = 1500;
let first = "";
let waiting;

export const areShortcutsOn = () => localStorage.getItem(OFF) === null;

export function switchShortcuts(isOn) {
  if (isOn) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, "1");
}

// The tables of shortcuts of the shown components, the innermost last: it is asked first. A function that returns false
// leaves the key to the next one.
const tables = [];

/** While the component is shown, call the function of the pressed key: `{"/": focusSearch, "g o": openOverview}`. */
export function useShortcuts(shortcuts) {
  const current = useRef(shortcuts);
  current.current = shortcuts;
  useEffect(() => {
    tables.push(current);
    return () => tables.splice(tables.indexOf(current), 1);
  }, []);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (
    event.target instanceof Element &&
    event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]")
  )
    return;
  const isLetter = event.key.length === 1;
  if (isLetter && !areShortcutsOn()) return;
  const key = first ? `${first} ${event.key}` : event.key;
  first = "";
  clearTimeout(waiting);
  const isDone = tables.toReversed().some((table) => table.current[key] && table.current[key]() !== false);
  if (isDone) event.preventDefault();
  else if (event.key === "g") {
    first = "g";
    waiting = setTimeout(() => (first = ""), WAIT_MS);
  }
});
