// The lock of a collection: for how long nobody can remove a version. It can be extended, never shortened.

import { html, useState } from "../../lib/html.js";
import { path, send } from "../../lib/api.js";
import { duration } from "../../lib/format.js";
import { parseInterval } from "../../lib/parse.js";
import { Dialog } from "../../components/dialog.js";
import { Check, Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t } from "../../texts/collection.js";

/** Whether nobody can remove a version now. */
export const isLocked = (version, now = new Date()) =>
  Boolean(version.locked_until) && new Date(version.locked_until) > now;

/** The card of the lock. Who may not set it sees it only if there is one. */
export function Lock({ collection, changed }) {
  const [isOpen, setOpen] = useState(false);
  const { locked, may } = collection;
  const maySet = may.includes("collection.lock") && may.includes("collection.edit");
  if (!locked && !maySet) return null;
  return html`<section class="card stack" aria-label=${t.lock.title}>
    <h2>${t.lock.title}</h2>
    <p>${locked ? t.lock.locked(duration(locked)) : t.lock.none}</p>
    ${
      maySet &&
      html`<div class="row">
        <button class="btn" onClick=${() => setOpen(true)}>${locked ? t.lock.extend : t.lock.set}</button>
      </div>`
    }
    ${isOpen && html`<${LockDialog} collection=${collection} changed=${changed} close=${() => setOpen(false)} />`}
  </section>`;
}

function LockDialog({ collection, changed, close }) {
  const form = useForm({ locked: collection.locked ? duration(collection.locked) : "30d", isSure: false });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ locked }) => {
      const body = { locked: parseInterval(locked, "locked") };
      changed(await send("PATCH", `/collections${path(collection.id)}`, { body }));
      close();
    });
  };
  return html`<${Dialog} title=${collection.locked ? t.lock.extendDialog : t.lock.dialog} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <p>${t.lock.text}</p>
      ${collection.locked && html`<p><b>${t.lock.now(duration(collection.locked))}</b></p>`}
      <${Field} label=${t.lock.length} hint=${t.lock.hint} ...${fieldOf(form, "locked")} />
      <${Check} label=${t.lock.sure} value=${form.values.isSure} change=${(isSure) => form.set("isSure", isSure)} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn bad" disabled=${!form.values.isSure || form.isSending}>${t.lock.action}</button>
      </div>
    </form>
  <//>`;
}
