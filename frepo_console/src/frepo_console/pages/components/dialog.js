// Dialogs: the browser's own, which hold the focus, give it back, and close with Escape.

import { html, useLayoutEffect, useRef, useState } from "../lib/html.js";
import { t } from "../texts.js";
import { Icon } from "./icons.js";

let last = 0;

/** A dialog with a title. `close` is called when the person closes it. */
export function Dialog({ title, close, children, isWide = false }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [id] = useState(() => `dialog-${(last += 1)}`);
  // Before the first picture: until it is opened, the dialog would be shown as a part of the page, without the focus.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    const first = "[data-first], input, select, textarea, button:not([aria-label])";
    const shown = dialog.current;
    shown?.showModal();
    focus(shown?.querySelector(first));
    return () => {
      // While it is open, nothing outside gets the focus. Its person has closed it already, so nobody has to be told.
      shown?.addEventListener("close", (event) => event.stopImmediatePropagation(), { capture: true });
      shown?.close();
      focus(opener);
    };
  }, []);
  return html`<dialog
    ref=${dialog}
    class=${`dialog stack ${isWide ? "wide" : ""}`}
    aria-labelledby=${id}
    onClose=${close}
  >
    <div class="row">
      <h2 class="grow" id=${id}>${title}</h2>
      <button class="btn bare s" aria-label=${t.close} onClick=${close}><${Icon} name="close" /></button>
    </div>
    ${children}
  </dialog>`;
}

/** @param {Element | null} [element] */
const focus = (element) => element instanceof HTMLElement && element.focus();

/**
 * Ask before something is removed, or, with `isHarmless`, changed. The children say what will happen; `action` is the
 * word on the button. `run` does it and may throw `Problem`, whose message stays in the dialog.
 */
export function Confirm({ title, action, run, close, children, isHarmless = false }) {
  const [error, setError] = useState("");
  const [isRunning, setRunning] = useState(false);
  const confirmed = async () => {
    setRunning(true);
    try {
      await run();
      close();
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
      setRunning(false);
    }
  };
  return html`<${Dialog} title=${title} close=${close}>
    <div>${children}</div>
    ${error && html`<p class="err" role="alert"><${Icon} name="overdue" />${error}</p>`}
    <div class="row actions">
      <button class="btn" data-first onClick=${close}>${t.cancel}</button>
      <button class=${isHarmless ? "btn pri" : "btn bad"} disabled=${isRunning} onClick=${confirmed}>${action}</button>
    </div>
  <//>`;
}
