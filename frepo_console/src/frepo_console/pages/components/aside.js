// What is next to a list: the opened row, or a form. On a narrow screen it is above the list, and scrolled to.

import { html, useEffect, useRef } from "../lib/html.js";
import { useShortcuts } from "../lib/navigation.js";
import { t } from "../texts.js";

/**
 * `at` names what is shown, empty for nothing that was opened. Escape closes it, unless it `isKept`, and the focus is
 * where it was.
 */
export function Aside({ at, label, isKept = false, children }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!at) return undefined;
    const opener = document.activeElement;
    const shown = place.current;
    if (matchMedia("(max-width: 62rem)").matches) shown?.scrollIntoView();
    return () => {
      const isLost = document.activeElement === document.body || shown?.contains(document.activeElement);
      if (isLost && opener instanceof HTMLElement) opener.focus();
    };
  }, [at]);
  useShortcuts({ Escape: at && !isKept ? () => close(place.current) : undefined });
  return html`<aside class="w4 stack" aria-label=${label} ref=${place}>${children}</aside>`;
}

/** Press the cross of what is shown. A form that has none stays. */
function close(shown) {
  const cross = shown?.querySelector(`[aria-label="${t.close}"]`);
  cross?.click();
  return Boolean(cross);
}
