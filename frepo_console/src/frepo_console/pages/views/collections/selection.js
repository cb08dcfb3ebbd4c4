// What can be done with the selected collections: the expected interval, and access for a token.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { Problem, path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { size } from "../../lib/format.js";
import { parseInterval } from "../../lib/parse.js";
import { Dialog } from "../../components/dialog.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/collections.js";

export function SelectionBar({ items, clear, reload }) {
  const [dialog, setDialog] = useState("");
  const mayAll = (action) => items.every(({ may }) => may.includes(action));
  const sum = (field) => items.reduce((total, one) => total + one[field], 0);
  const close = () => setDialog("");
  const done = () => {
    close();
    clear();
    reload();
  };
  return html`<div class="bar" role="region" aria-label=${t.selected(items.length)}>
      <b>${t.selected(items.length)}</b
      ><span class="dim sm grow">${size(sum("stored_size"))}, ${t.versions(sum("versions"))}</span>
      ${
        mayAll("collection.edit") &&
        html`<button class="btn" onClick=${() => setDialog("interval")}>
          <${Icon} name="clock" />${t.selection.interval}
        </button>`
      }
      ${
        mayAll("collection.tokens") &&
        html`<button class="btn" onClick=${() => setDialog("access")}>
          <${Icon} name="tokens" />${t.selection.access}
        </button>`
      }
      <button class="btn bare" onClick=${clear}><${Icon} name="close" />${t.clear}</button>
    </div>
    ${dialog === "interval" && html`<${IntervalDialog} items=${items} close=${close} done=${done} />`}
    ${dialog === "access" && html`<${AccessDialog} items=${items} close=${close} done=${done} />`}`;
}

/** Send one request for each collection. Throws a `Problem` that says how many succeeded. */
async function forEach(items, run) {
  for (const [index, one] of items.entries()) {
    try {
      await run(one);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const detail = t.selection.failed(one.name, error.message, index, items.length);
      throw new Problem(error.status, {
        detail,
        errors: Object.keys(error.fields).map((field) => ({ field, message: detail })),
      });
    }
  }
}

function IntervalDialog({ items, close, done }) {
  const form = useForm({ expected_every: "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      const body = { expected_every: parseInterval(values.expected_every, "expected_every") };
      await forEach(items, (one) => send("PATCH", `/collections${path(one.id)}`, { body }));
      done();
    });
  };
  return html`<${Dialog} title=${t.selection.intervalTitle(items.length)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${Field} label=${t.form.expected} hint=${t.form.expectedHint} ...${fieldOf(form, "expected_every")} autofocus />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending}>${t.selection.change(items.length)}</button>
      </div>
    </form>
  <//>`;
}

function AccessDialog({ items, close, done }) {
  const form = useForm({ fingerprint: "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ fingerprint }) => {
      await forEach(items, (one) => send("PUT", `/collections${path(one.id, "access", fingerprint.trim())}`));
      done();
    });
  };
  return html`<${Dialog} title=${t.selection.accessTitle(items.length)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${TokenField} form=${form} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending || !form.values.fingerprint}>${t.selection.grant}</button>
      </div>
    </form>
  <//>`;
}

/** A choice of the tokens, or a field for a fingerprint if the token may not list them. */
export function TokenField({ form }) {
  const access = useAccess();
  const mayChoose = access.may("token.list");
  const tokens = useResource(mayChoose ? "/tokens" : null, { query: { limit: 500 }, every: 0 });
  if (!mayChoose || tokens.error)
    return html`<${Field} label=${t.selection.fingerprint} ...${fieldOf(form, "fingerprint")} autofocus />`;
  const options = (tokens.data?.items ?? [])
    .filter((one) => !one.setting)
    .map((one) => [one.fingerprint, `${one.name ?? t.selection.noName} · ${one.fingerprint}`]);
  return html`<${Field}
    label=${t.selection.token}
    options=${[["", t.selection.choose], ...options]}
    ...${fieldOf(form, "fingerprint")}
    autofocus
  />`;
}
