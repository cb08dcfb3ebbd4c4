// What is next to a list: the opened row, or a form. On a narrow screen it is above the list, and scrolled to.

import { html, useEffect, useRef } from "../lib/html.js";

/** `at` names what is shown, empty for nothing that was opened. */
export function Aside({ at, label, children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (at && matchMedia("(max-width: 62rem)").matches) place.current?.scrollIntoView();
  }, [at]);
  return html`<aside class="w4 stack" aria-label=${label} ref=${place}>${children}</aside>`;
}
