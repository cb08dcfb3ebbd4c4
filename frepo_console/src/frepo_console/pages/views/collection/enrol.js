// A new server for this collection: a one-time code, and the two lines that install its client and enrol it.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { API, Problem, answerOf, send } from "../../lib/api.js";
import { dateTime } from "../../lib/format.js";
import { CopyButton, Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t } from "../../texts/collection.js";

export const service = API.replace(/\/api\/v1$/, "");
const CLIENT = `${service}/client/frepo-client.pyz`;

/** Shows the code once: another tab or page forgets it. */
export function Enrol({ collection }) {
  const access = useAccess();
  const isAllowed = access.may("token.generate") && collection.may.includes("collection.tokens");
  return html`<section class="card stack">
    <h2>${t.enrol.title}</h2>
    ${isAllowed ? html`<${Form} collection=${collection} />` : html`<p class="dim">${t.enrol.notAllowed}</p>`}
  </section>`;
}

function Form({ collection }) {
  const form = useForm({ name: "" });
  const [made, setMade] = useState(/** @type {Awaited<ReturnType<typeof makeCode>> | null} */ (null));
  const submit = (event) => {
    event.preventDefault();
    setMade(null);
    form.submit(async ({ name }) => setMade(await makeCode(name.trim(), collection)));
  };
  return html`<form class="stack" onSubmit=${submit}>
      <${Field} label=${t.enrol.name} hint=${t.enrol.nameHint} ...${fieldOf(form, "name")} maxlength="128" />
      <${FormError} form=${form} />
      <div class="row">
        <button class="btn" disabled=${form.isSending || !form.values.name.trim()}>${t.enrol.make}</button>
      </div>
    </form>
    <div class="stack ok" aria-live="polite">${made && html`<${Lines} ...${made} />`}</div>`;
}

/** The client is asked first: if it cannot be read, no code is made that nobody sees. */
export async function makeCode(name, collection) {
  const client = await readClient();
  const { code, expires_at: end } = await send("POST", "/enrolments", { body: { name, collections: [collection.id] } });
  return { ...client, code, end };
}

/** The SHA-256 and the version of the client that the service has now. */
async function readClient() {
  const answer = await answerOf(`${CLIENT}.sha256`);
  const text = await answer.text().catch(() => {
    throw new Problem(0, { detail: t.errors.offline });
  });
  return { digest: text.split(" ")[0], version: answer.headers.get("Frepo-Client-Version") };
}

export function Lines({ digest, version, code, end }) {
  const install = `curl -fsS -o frepo-client.pyz ${CLIENT} &&
  echo "${digest}  frepo-client.pyz" | sha256sum -c - &&
  sudo install -m 755 frepo-client.pyz /usr/local/bin/frepo-client`;
  const enroll = `frepo-client enroll ${service}`;
  return html`<h3>${t.enrol.install(version)}</h3>
    <pre tabindex="0">${install}</pre>
    <div class="row"><${CopyButton} text=${install} label=${t.enrol.copyInstall} /></div>
    <h3>${t.enrol.enroll}</h3>
    <pre tabindex="0">${enroll}</pre>
    <div class="row"><${CopyButton} text=${enroll} label=${t.enrol.copyEnroll} /></div>
    <h3>${t.enrol.code}</h3>
    <output class="secret">${code}</output>
    <p class="dim sm">${t.enrol.codeText(dateTime(end))}</p>
    <div class="row"><${CopyButton} text=${code} label=${t.enrol.copyCode} isPrimary /></div>`;
}
