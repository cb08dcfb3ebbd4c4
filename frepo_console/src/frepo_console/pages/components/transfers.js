// The list of uploads and downloads with their progress, and the place to drop files.

import { html, useEffect, useRef } from "../lib/html.js";
import { elapsed, percent, size } from "../lib/format.js";
import { useTransfers } from "../lib/transfers.js";
import { t } from "../texts/transfers.js";
import { Icon } from "./icons.js";

const COLOURS = { done: "ok", failed: "overdue", retrying: "late", interrupted: "late", cancelled: "new" };

/**
 * The transfers about a topic. Nothing is shown if there are none. `result(transfer)` is shown below one that is done.
 */
export function Transfers({ topic, title = t.transfers.title, result = () => null }) {
  const found = useTransfers(topic);
  if (found.length === 0) return null;
  const active = found.filter((one) => one.isActive);
  const done = found.filter((one) => one.state === "done").length;
  const speed = active.reduce((sum, one) => sum + (one.state === "running" ? (one.speed ?? 0) : 0), 0);
  const old = found.filter((one) => !one.isActive && one.state !== "interrupted");
  return html`<section class="card flush" aria-label=${title}>
    <div class="sec">
      <h2>${title}</h2>
      <span class="dim sm grow">${t.transfers.count(done, found.length, speed > 0 && size(speed))}</span>
      ${
        active.length > 1
          ? html`<button class="btn bare s" onClick=${() => active.forEach((one) => one.cancel())}>
              ${t.transfers.cancelAll}
            </button>`
          : !active.length &&
            old.length > 0 &&
            html`<button class="btn bare s" onClick=${() => old.forEach((one) => one.remove())}>${t.clear}</button>`
      }
    </div>
    <ul class="list">
      ${found.map((one) => html`<${TransferLine} key=${one.id} transfer=${one} result=${result} />`)}
    </ul>
  </section>`;
}

function TransferLine({ transfer, result }) {
  const { state, name, moved, size: whole, message, kind, isActive } = transfer;
  const colour = COLOURS[state] ?? "";
  const share = whole ? moved / whole : 1;
  return html`<li class=${colour}>
    <${Icon} name=${colour || (state === "waiting" ? "clock" : kind)} isColoured=${Boolean(colour)} />
    <div class="grow stack tight">
      <div class="row">
        <b class="cut" title=${name}>${name}</b
        ><span class="dim sm end">${isActive ? rest(transfer) : size(whole)}</span>
      </div>
      ${
        isActive &&
        html`<progress value=${share} max="1" aria-label=${t.transfers.progress(name, percent(share))}></progress>`
      }
      <span class=${state === "failed" ? "sm fg" : "sm dim"} role=${state === "failed" ? "alert" : "status"}
        >${message || t.transfers.states[state]}</span
      >
      ${state === "done" && result(transfer)}
    </div>
    ${
      isActive &&
      html`<button class="btn s" aria-label=${t.transfers.cancelOne(name)} onClick=${() => transfer.cancel()}>
        ${t.cancel}
      </button>`
    }
    ${
      ["retrying", "failed", "cancelled"].includes(state) &&
      html`<button class="btn s" onClick=${() => transfer.start()}>
        <${Icon} name="retry" />${t.transfers.retry}
      </button>`
    }
    ${
      state === "interrupted" &&
      html`<${FileButton}
        label=${t.transfers.choose}
        name=${t.transfers.chooseAgain(name)}
        take=${([file]) => transfer.resume(file)}
      />`
    }
    ${
      !isActive &&
      html`<button
        class="btn s bare"
        aria-label=${state === "interrupted" ? t.transfers.discard(name) : t.transfers.remove(name)}
        onClick=${() => transfer.remove()}
      >
        <${Icon} name="close" />
      </button>`
    }
  </li>`;
}

/** "1.2 GB of 3 GB, 90 MB/s, 20 s left" */
function rest({ moved, size: whole, speed }) {
  const parts = [t.transfers.moved(size(moved), size(whole))];
  if (speed > 0) {
    const now = new Date();
    parts.push(
      t.transfers.speed(size(speed)),
      t.transfers.left(elapsed(new Date(now.getTime() - ((whole - moved) / speed) * 1000), now)),
    );
  }
  return parts.join(", ");
}

/** A button that opens the browser's dialog to choose a file. `take(files)` gets it; `name` is for screen readers. */
function FileButton({ label, name = undefined, take, small = true }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const picked = (event) => {
    if (event.target.files.length) take([...event.target.files]);
    event.target.value = "";
  };
  return html`<button
      class=${small ? "btn s" : "btn"}
      type="button"
      aria-label=${name}
      onClick=${() => input.current?.click()}
    >
      ${label}</button
    ><input ref=${input} type="file" hidden onChange=${picked} />`;
}

/** A place for files: dropped on the page, see `useDrop`, or chosen. `take(files)` gets them. */
export function DropZone({ title, text, take, isOver }) {
  return html`<div class=${isOver ? "drop over stack" : "drop stack"}>
    <${Icon} name="upload" />
    <p><b>${title}</b> ${text && html`<span class="dim">${text}</span>`}</p>
    <div><${FileButton} label=${t.transfers.choose} take=${take} small=${false} /></div>
  </div>`;
}

/**
 * Give files that are dropped anywhere on the page to `add`. `setOver(true)` is called while some are dragged over it.
 * With `add` null they are refused; otherwise the browser would leave the page for them.
 */
export function useDrop(add, setOver) {
  const latest = useRef(add);
  latest.current = add;
  useEffect(() => {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    const over = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(latest.current !== null);
    };
    const leave = (event) => event.relatedTarget === null && setOver(false);
    const drop = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      latest.current?.([...event.dataTransfer.files]);
    };
    const listeners = { dragover: over, dragleave: leave, drop };
    for (const [name, listener] of Object.entries(listeners)) document.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) document.removeEventListener(name, listener);
    };
  }, []);
}
