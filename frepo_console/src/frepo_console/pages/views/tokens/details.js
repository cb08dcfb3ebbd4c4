// One token: what it may do, on which collections, from where; edit, rotate and revoke it.

import { html, useContext, useState } from "../../lib/html.js";
import { About, useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { date, dateTime, size } from "../../lib/format.js";
import { go, link } from "../../lib/navigation.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Loaded, Note } from "../../components/feedback.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/tokens.js";
import { AlsoEnds, successorsOf } from "./chain.js";
import { EditToken } from "./edit.js";
import { ADMINISTRATOR } from "./presets.js";

const titleOf = (token) => token.name ?? token.fingerprint;

export function TokenDetails({ fingerprint, finish, reload }) {
  const resource = useResource(path("tokens", fingerprint));
  const changed = () => {
    resource.reload();
    reload();
  };
  return html`<${Loaded} resource=${resource}
    >${(token) => html`<${Card} token=${token} finish=${finish} reload=${reload} changed=${changed} />`}<//
  >`;
}

function Card({ token, finish, reload, changed }) {
  const [asking, setAsking] = useState("");
  const access = useAccess();
  const about = useContext(About);
  const revoking = token.roles.includes(ADMINISTRATOR) ? "token.revoke_administrator" : "token.revoke";
  const mayRevoke = access.may(revoking);
  const mayChange = mayRevoke && access.may("token.change") && !token.setting;
  const isOver = token.expires_at && new Date(token.expires_at) < new Date();
  const revoke = async () => {
    await send("DELETE", path("tokens", token.fingerprint));
    reload();
    go(["tokens"]);
  };
  return html`<section class="card stack">
    <div class="row">
      <h2 class="grow">${titleOf(token)}</h2>
      <a class="btn bare s" aria-label=${common.close} href=${link(["tokens"])}><${Icon} name="close" /></a>
    </div>
    <p class="dim sm">
      <code>${token.fingerprint}</code
      >${" · "}${t.created(date(token.created_at), token.created_by_name ?? token.created_by)}${
        token.expires_at && html` · ${t.expires} ${dateTime(token.expires_at)}`
      }
    </p>
    ${token.setting && html`<${Note} icon="lock">${t.setting(token.setting)}<//>`}
    ${
      mayRevoke &&
      html`<div class="row">
        ${
          mayChange &&
          html`<button class="btn" onClick=${() => setAsking("edit")}><${Icon} name="edit" />${t.edit}</button>`
        }
        ${
          mayChange &&
          !isOver &&
          html`<button class="btn" onClick=${() => setAsking("rotate")}><${Icon} name="retry" />${t.rotate}</button>`
        }
        <button class="btn bad" onClick=${() => setAsking("revoke")}>${t.revoke}</button>
      </div>`
    }
    <${Restrictions} token=${token} />
    <ul class="stack">
      ${token.roles.map(
        (role) =>
          html`<li class="row check ok">
            <${Icon} name="ok" isColoured /><span class="grow"
              >${t.roleTexts[role] ?? role}<code class="sm faint row">${role}</code></span
            >
          </li>`,
      )}
    </ul>
    ${
      token.collections_count > 0 &&
      html`<h3>${common.collections(token.collections_count)}</h3>
        <ul class="stack sm">
          ${token.collections.map((one) => html`<li><a href=${link(["collections", one.id])}>${one.name}</a></li>`)}
        </ul>`
    }
    ${asking === "edit" && html`<${EditToken} token=${token} done=${changed} close=${() => setAsking("")} />`}
    ${asking === "rotate" && html`<${Rotate} token=${token} finish=${finish} close=${() => setAsking("")} />`}
    ${
      asking === "revoke" &&
      html`<${Confirm}
        title=${t.revokeTitle(titleOf(token))}
        action=${t.revoke}
        run=${revoke}
        close=${() => setAsking("")}
      >
        <p>${t.revokeText(token.collections_count)}</p>
        <${AlsoEnds} title=${t.alsoRevoked} fingerprints=${token.chain.filter((one) => one !== token.fingerprint)} />
        ${token.fingerprint === about.token.fingerprint && html`<p class="b">${t.revokeOwn}</p>`}
      <//>`
    }
  </section>`;
}

function Restrictions({ token }) {
  const {
    ip_addresses: addresses,
    user_agents: agents,
    mime_types: types,
    tags,
    max_file_size: most,
  } = token.restrictions;
  const rows = [
    [t.onlyFrom, addresses],
    [t.onlyAgents, agents],
    [t.onlyTypes, types],
    [t.onlyTags, tags],
  ].filter(([, values]) => values.length);
  return html`${rows.map(
    ([title, values]) =>
      html`<p class="row wrap">
        <${Icon} name="lock" /><b>${title}</b>${values.map((value) => html`<code class="tag">${value}</code>`)}
      </p>`,
  )}
  ${most > 0 && html`<p class="row"><${Icon} name="lock" />${t.atMost(size(most))}</p>`}`;
}

function Rotate({ token, finish, close }) {
  const form = useForm({ overlap: "P1D" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ overlap }) => {
      const made = await send("POST", `${path("tokens", token.fingerprint)}/rotate`, { body: { overlap } });
      close();
      finish(made);
    });
  };
  return html`<${Dialog} title=${t.rotateTitle(titleOf(token))} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <p>${t.rotateText}</p>
      <${AlsoEnds} title=${t.alsoRotated} fingerprints=${successorsOf(token)} />
      <${Field} label=${t.overlap} ...${fieldOf(form, "overlap")} options=${Object.entries(t.overlaps)} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${common.cancel}</button
        ><button class="btn pri" disabled=${form.isSending}>${t.rotate}</button>
      </div>
    </form>
  <//>`;
}
