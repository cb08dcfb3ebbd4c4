// The state of the page is in the fragment of its URL: `#/collections?state=late`. Each can be bookmarked; back works.

import { useEffect, useState } from "./html.js";

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
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const changed = () => setRoute(currentRoute());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
