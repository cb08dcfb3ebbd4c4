// A button for an action of one row.

import { html, useState } from "../lib/html.js";

/** A button that runs something and shows why it failed next to itself. */
export function ActionButton({ run, children, className = "btn s", ...more }) {
  const [error, setError] = useState("");
  const [isRunning, setRunning] = useState(false);
  const click = async () => {
    setRunning(true);
    setError("");
    try {
      await run();
    } catch (problem) {
      setError(problem instanceof Error ? problem.message : String(problem));
    }
    setRunning(false);
  };
  return html`<button type="button" class=${className} disabled=${isRunning} onClick=${click} ...${more}>
      ${children}
    </button>
    ${error && html`<span class="err" role="alert">${error}</span>`}`;
}
