// A new server: from its name to the line for cron, or to the one-time code of its client, in one dialog.

import { html, useRef, useState } from "../../lib/html.js";
import { mayAddServer, useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { link } from "../../lib/navigation.js";
import { Dialog } from "../../components/dialog.js";
import { CopyButton, Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { t as common } from "../../texts/collection.js";
import { t } from "../../texts/new_server.js";
import { Lines, makeCode } from "../collection/enrol.js";
import { cronBlock } from "../collection/send.js";
import { PRESETS } from "../tokens/presets.js";

export default function NewServer({ close }) {
  const access = useAccess();
  const form = useForm({ name: "", way: "cron" });
  const [made, setMade] = useState(/** @type {any} */ (null));
  const collection = useRef(/** @type {any} */ (null)); // of a first try whose next step failed
  const start = (way) =>
    form.submit(async ({ name }) => {
      const body = { name: name.trim(), expected_every: "P1D" };
      if (collection.current?.name !== body.name) collection.current = await send("POST", "/collections", { body });
      setMade({ way, collection: collection.current, ...(await STEPS[way](collection.current)) });
    });
  const submit = (event) => {
    event.preventDefault();
    start("cron");
  };
  if (!mayAddServer(access)) return null;
  if (made) return html`<${Made} made=${made} close=${close} />`;
  return html`<${Dialog} title=${t.title} close=${close} isWide>
    <form class="stack" onSubmit=${submit}>
      <${Field} label=${t.name} hint=${t.nameHint} ...${fieldOf(form, "name")} required autofocus />
      <p class="dim sm">${t.what}</p>
      <${FormError} form=${form} />
      <div class="row wrap actions">
        <button type="button" class="btn" onClick=${close}>${common.cancel}</button>
        <button
          type="button"
          class="btn"
          disabled=${form.isSending || !form.values.name.trim()}
          onClick=${() => start("client")}
        >
          ${t.withClient}
        </button>
        <button class="btn pri" disabled=${form.isSending || !form.values.name.trim()}>${t.withCron}</button>
      </div>
    </form>
  <//>`;
}

/** What follows after the collection. Each returns what is shown once. */
const STEPS = {
  cron: async (collection) => {
    const name = t.tokenName(collection.name);
    const token = await send("POST", "/tokens", { body: { name, roles: PRESETS.send, expires_at: null } });
    await send("PUT", `/collections${path(collection.id, "access", token.fingerprint)}`);
    return { secret: token.secret };
  },
  client: async (collection) => ({ code: await makeCode(t.tokenName(collection.name), collection) }),
};

function Made({ made, close }) {
  const { collection, secret, code } = made;
  const block = secret && cronBlock(collection, secret);
  return html`<${Dialog} title=${t.made(collection.name)} close=${close} isWide>
    ${
      block
        ? html`<p>${t.paste}</p>
            <pre tabindex="0">${block}</pre>
            <p class="dim sm">${t.once}</p>
            <div class="row actions">
              <a class="btn" href=${link(["collections", collection.id])}>${t.open}</a>
              <${CopyButton} text=${block} isPrimary />
            </div>`
        : html`<${Lines} ...${code} />
            <div class="row actions"><a class="btn" href=${link(["collections", collection.id])}>${t.open}</a></div>`
    }
  <//>`;
}
