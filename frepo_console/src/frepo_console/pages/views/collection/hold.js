// The hold of a collection: nothing leaves it until a person ends the hold.

import { html, useState } from "../../lib/html.js";
import { path, send } from "../../lib/api.js";
import { exactTime } from "../../lib/format.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t } from "../../texts/collection.js";

const pathOf = (collection) => `/collections${path(collection.id, "hold")}`;

/** The card of the hold: in the settings if there is none and the token may set one, else above the tabs. */
export function Hold({ collection, changed, isSetting = false }) {
  const [isOpen, setOpen] = useState(false);
  const { hold, may } = collection;
  const maySet = may.includes("collection.hold");
  const close = () => setOpen(false);
  if (isSetting) {
    if (hold || !maySet) return null;
    return html`<section class="card stack" aria-label=${t.hold.title}>
      <h2>${t.hold.title}</h2>
      <p>${t.hold.none}</p>
      <div class="row"><button class="btn" onClick=${() => setOpen(true)}>${t.hold.set}</button></div>
      ${isOpen && html`<${HoldDialog} ...${{ collection, changed, close }} />`}
    </section>`;
  }
  if (!hold) return null;
  return html`<section class="card stack" aria-label=${t.hold.title}>
    <h2>${t.hold.title}</h2>
    <p>${t.hold.held(exactTime(hold.since), hold.by)} <b>${hold.reason}</b></p>
    <p class="dim">${t.hold.text}</p>
    ${
      may.includes("collection.end_hold") &&
      html`<div class="row"><button class="btn" onClick=${() => setOpen(true)}>${t.hold.end}</button></div>`
    }
    ${isOpen && html`<${EndDialog} ...${{ collection, changed, close }} />`}
  </section>`;
}

function HoldDialog({ collection, changed, close }) {
  const form = useForm({ reason: "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ reason }) => {
      changed(await send("PUT", pathOf(collection), { body: { reason } }));
      close();
    });
  };
  return html`<${Dialog} title=${t.hold.set} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <p>${t.hold.text}</p>
      <${Field} label=${t.hold.reason} hint=${t.hold.hint} required ...${fieldOf(form, "reason")} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn pri" disabled=${form.isSending}>${t.hold.set}</button>
      </div>
    </form>
  <//>`;
}

function EndDialog({ collection, changed, close }) {
  const run = async () => {
    await send("DELETE", pathOf(collection));
    changed();
  };
  return html`<${Confirm} title=${t.hold.end} action=${t.hold.end} run=${run} close=${close}
    ><p>${t.hold.after}</p><//
  >`;
}
