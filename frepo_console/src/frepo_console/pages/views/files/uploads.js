// The uploads of this tab, in every state, with what can be done about each.

import { html, useEffect, useState } from "../../lib/html.js";
import { elapsed, size } from "../../lib/format.js";
import { CopyButton } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/files.js";
import { fileUrl } from "./file.js";
import { cancel, cancelAll, clearFinished, currentUploads, isActive, onUploads, remove, retry } from "./upload_queue.js";

export function useUploads() {
  const [uploads, setUploads] = useState(currentUploads);
  useEffect(() => onUploads(setUploads), []);
  return uploads;
}

const SIGNS = { done: "ok", failed: "overdue", lost: "late", cancelled: "new" };

export function Uploads({ uploads }) {
  const done = uploads.filter((one) => one.state === "done").length;
  const active = uploads.filter(isActive);
  const speed = active.reduce((sum, one) => sum + (one.state === "sending" ? one.speed : 0), 0);
  return html`<section class="card flush" aria-label=${t.uploads}>
    <div class="sec"><h2>${t.uploads}</h2><span class="dim sm grow">${t.progress(done, uploads.length, speed > 0 && size(speed))}</span>
      ${active.length > 1 ? html`<button class="btn bare s" onClick=${cancelAll}>${t.cancelAll}</button>` : !active.length && html`<button class="btn bare s" onClick=${clearFinished}>${t.clearDone}</button>`}</div>
    <ul class="list">${uploads.map((one) => html`<${Upload} key=${one.id} upload=${one} />`)}</ul>
  </section>`;
}

function Upload({ upload }) {
  const { id, file, state, sent, answer } = upload;
  const sign = SIGNS[state];
  const isOver = !isActive(upload) && state !== "lost";
  return html`<li class=${sign ?? ""}>
    <${Icon} name=${sign ?? (state === "waiting" ? "clock" : "upload")} isColoured />
    <div class="grow stack">
      <div class="cut" title=${file.name}>${file.name}</div>
      ${["sending", "checking", "lost", "done", "hashing"].includes(state) && html`<progress aria-label=${file.name} max=${Math.max(1, file.size)} value=${state === "done" ? file.size : sent}></progress>`}
      <div class=${sign === "overdue" ? "sm fg" : "sm dim"} role=${state === "failed" ? "alert" : undefined}>${textOf(upload)}</div>
      ${state === "done" && html`<div class="row"><${CopyButton} text=${fileUrl(answer.name)} label=${t.copyLink} /></div>`}
      ${(state === "lost" || state === "cancelled" || state === "failed") && html`<div class="row"><button class="btn s" onClick=${() => retry(id)}><${Icon} name="retry" />${t.retry}</button></div>`}
    </div>
    <button class="btn bare s" aria-label=${isOver ? t.removeOne(file.name) : t.cancelOne(file.name)} onClick=${() => (isOver ? remove(id) : cancel(id))}><${Icon} name="close" /></button>
  </li>`;
}

function textOf({ state, file, sent, speed, answer, existed, message }) {
  if (state === "done") return existed ? t.existed(size(answer.size), answer.name) : t.stored(size(answer.size));
  if (state === "failed") return message;
  if (state === "lost") return t.lost(size(sent), size(file.size));
  if (state === "cancelled") return t.cancelled;
  if (state === "sending" && sent) {
    const until = Date.now() + ((file.size - sent) / Math.max(1, speed)) * 1000;
    return [t.sent(size(sent), size(file.size)), `${size(speed)}/s`, t.left(elapsed(new Date(), new Date(until)))].join(" · ");
  }
  return t[state] ?? t.waiting;
}

