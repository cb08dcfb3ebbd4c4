// The dialog that changes a token: its name, when it expires, and what it is restricted to. Its roles cannot be
// changed.

import { html } from "../../lib/html.js";
import { path, send } from "../../lib/api.js";
import { parseSize, sizeText } from "../../lib/parse.js";
import { Dialog } from "../../components/dialog.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/tokens.js";
import { AlsoEnds, successorsOf } from "./chain.js";

const SIZE = "restrictions.max_file_size";
const WORDS = ["restrictions.ip_addresses", "restrictions.tags", "restrictions.mime_types"];
// A User-Agent may have spaces and commas.
const LINES = "restrictions.user_agents";

export function EditToken({ token, close, done }) {
  const form = useForm(valuesOf(token));
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      await send("PATCH", path("tokens", token.fingerprint), { body: bodyOf(values, form.changed) });
      done();
      close();
    });
  };
  return html`<${Dialog} title=${t.editTitle(token.name ?? token.fingerprint)} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${Field} label=${t.name} ...${fieldOf(form, "name")} maxlength="128" />
      <${Field} label=${t.expires} type="datetime-local" ...${fieldOf(form, "expires_at")} hint=${t.expiresHint} />
      <${Field} label=${t.addresses} ...${fieldOf(form, WORDS[0])} hint=${t.addressesHint} />
      <${Field} label=${t.onlyAgents} rows="2" ...${fieldOf(form, LINES)} hint=${t.agentsHint} />
      <${Field} label=${t.onlyTags} ...${fieldOf(form, WORDS[1])} hint=${t.wordsHint} />
      <${Field} label=${t.onlyTypes} ...${fieldOf(form, WORDS[2])} hint=${t.wordsHint} />
      <${Field} label=${t.mostSize} ...${fieldOf(form, SIZE)} hint=${t.mostSizeHint} />
      <${AlsoEnds} title=${t.alsoEdited} fingerprints=${successorsOf(token)} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${common.cancel}</button
        ><button class="btn pri" disabled=${form.isSending || form.changed.length === 0}>${common.save}</button>
      </div>
    </form>
  <//>`;
}

const keyOf = (name) => name.replace("restrictions.", "");

function valuesOf({ name, expires_at: end, restrictions }) {
  return {
    name: name ?? "",
    expires_at: end ? localTime(new Date(end)) : "",
    ...Object.fromEntries(WORDS.map((field) => [field, restrictions[keyOf(field)].join(", ")])),
    [LINES]: restrictions[keyOf(LINES)].join("\n"),
    [SIZE]: sizeText(restrictions[keyOf(SIZE)]),
  };
}

/** A time as the field has it: in the zone of the browser, without its name. */
const localTime = (time) => new Date(time - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** What was changed, as a merge patch. */
function bodyOf(values, changed) {
  const readers = {
    name: (text) => text.trim() || null,
    expires_at: (text) => (text ? new Date(text).toISOString() : null),
    ...Object.fromEntries(WORDS.map((field) => [field, (text) => text.split(/[\s,]+/).filter(Boolean)])),
    [LINES]: (text) =>
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    [SIZE]: (text) => parseSize(text, SIZE),
  };
  const body = {};
  for (const field of changed) {
    const target = field.startsWith("restrictions.") ? (body.restrictions ??= {}) : body;
    target[keyOf(field)] = readers[field](values[field]);
  }
  return body;
}
