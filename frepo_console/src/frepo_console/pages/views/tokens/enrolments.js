// One-time codes that hosts have not used yet: who waits for a token, until when, and a button that revokes a code.

import { html } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useList } from "../../lib/data.js";
import { date, exactTime } from "../../lib/format.js";
import { ActionButton } from "../../components/action.js";
import { ListEnd, Table } from "../../components/table.js";
import { t } from "../../texts/tokens.js";

export function Enrolments() {
  const access = useAccess();
  const list = useList("/enrolments", { query: { sort: "-created_at" }, name: "enrolments", limit: 100 });
  const open = list.items?.filter((one) => one.state === "open") ?? [];
  if (!open.length) return null;
  const revoke = (one) => async () => {
    await send("DELETE", `/enrolments${path(one.id)}`);
    list.reload();
  };
  const columns = [
    { title: t.name, className: "main", cell: (one) => html`<span class="name">${one.name}</span>` },
    {
      title: t.allowed,
      className: "opt",
      cell: (one) => html`<span class="dim sm">${one.collections.map(({ name }) => name).join(", ")}</span>`,
    },
    {
      title: t.expires,
      className: "n",
      label: t.expires,
      cell: ({ expires_at: end }) => html`<time datetime=${end} title=${exactTime(end)}>${date(end)}</time>`,
    },
    {
      title: t.enrolments.action,
      className: "n",
      cell: (one) =>
        access.may("token.revoke") &&
        html`<${ActionButton} run=${revoke(one)} aria-label=${t.enrolments.revokeOf(one.name)}
          >${t.enrolments.revoke}<//
        >`,
    },
  ];
  return html`<section class="card flush" aria-label=${t.enrolments.title}>
    <div class="row"><h2>${t.enrolments.title}</h2></div>
    <p class="dim sm">${t.enrolments.text}</p>
    <${Table}
      caption=${t.enrolments.title}
      columns=${columns}
      rows=${open}
      keyOf=${(one) => one.id}
      nameOf=${(one) => one.name}
    />
    <${ListEnd} list=${list} />
  </section>`;
}
