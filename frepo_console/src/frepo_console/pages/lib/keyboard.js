// Shortcuts of one key, or of `g` and one key. They do nothing in a field, in a dialog, or if they are switched off.

import { useEffect, useRef } from "./html.js";

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
  if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog, [contenteditable]")) return;
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
