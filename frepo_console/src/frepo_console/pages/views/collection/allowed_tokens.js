// Who may use a collection: its tokens, what each may do, and when it was used last.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { date, exactTime, relative } from "../../lib/format.js";
import { Confirm, Dialog } from "../../components/dialog.js";
import { Empty, ErrorNote, Loaded } from "../../components/feedback.js";
import { FormError, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { Table } from "../../components/table.js";
import { t } from "../../texts/collection.js";
import { presetText } from "../tokens/presets.js";
import { TokenField } from "../collections/selection.js";

export function AllowedTokens({ collection, now }) {
  const access = useAccess();
  const base = `/collections${path(collection.id)}/access`;
  const list = useResource(base);
  // The list of access does not say when a token was used; that of tokens does.
  const tokens = useResource(access.may("token.list") ? "/tokens" : null, {
    query: { collection: collection.id, limit: 500 },
    every: 60,
  });
  const [isGranting, setGranting] = useState(false);
  const [removed, setRemoved] = useState(/** @type {{ name: string | null; fingerprint: string } | null} */ (null));
  const used = new Map((tokens.data?.items ?? []).map((one) => [one.fingerprint, one]));
  const granted = () => {
    setGranting(false);
    list.reload();
    tokens.reload();
  };
  const remove = async () => {
    await send("DELETE", `${base}${path(removed?.fingerprint)}`);
    list.reload();
  };
  const columns = [
    {
      title: t.access.token,
      className: "main",
      cell: (one) =>
        html`<span class="name">${one.name ?? t.selection.noName}</span><br /><code class="dim"
            >${one.fingerprint}</code
          >`,
    },
    { title: t.access.may, className: "opt", cell: (one) => presetText(one.roles) },
    {
      title: t.access.expires,
      className: "opt",
      cell: (one) =>
        one.expires_at ? html`<time title=${exactTime(one.expires_at)}>${date(one.expires_at, now)}</time>` : t.never,
    },
    ...(tokens.data
      ? [
          {
            title: t.access.used,
            label: t.access.usedShort,
            cell: (one) => html`<${LastUse} token=${used.get(one.fingerprint)} now=${now} />`,
          },
        ]
      : []),
    {
      title: t.table.actions,
      isHidden: true,
      className: "n act",
      cell: (one) =>
        html`<button class="btn s bare bad" onClick=${() => setRemoved(one)}>
          ${t.access.remove}<span class="vh"> ${one.name ?? one.fingerprint}</span>
        </button>`,
    },
  ];
  return html`<section class="card flush">
      <div class="sec">
        <h2>${t.collection.tabs.access}</h2>
        <p class="dim sm">${list.data && t.tokensCount(list.data.items.length)}</p>
        <button class="btn s end" data-key="n" onClick=${() => setGranting(true)}>
          <${Icon} name="plus" />${t.selection.grant}
        </button>
      </div>
      ${
        tokens.error &&
        !list.error &&
        html`<${ErrorNote} error=${tokens.error} at=${tokens.at} retry=${tokens.retry} />`
      }
      <${Loaded} resource=${list}
        >${({ items }) =>
          items.length
            ? html`<${Table}
                caption=${t.collection.tabs.access}
                columns=${columns}
                rows=${items}
                keyOf=${(one) => one.fingerprint}
                nameOf=${(one) => one.name}
              />`
            : html`<${Empty} icon="tokens" title=${t.access.none} text=${t.access.noneText} />`}<//
      >
    </section>
    ${isGranting && html`<${Grant} base=${base} close=${() => setGranting(false)} done=${granted} />`}
    ${
      removed &&
      html`<${Confirm}
        title=${t.access.removeTitle(removed.name ?? removed.fingerprint)}
        action=${t.access.removeAction}
        run=${remove}
        close=${() => setRemoved(null)}
        >${t.access.removeText(collection.name)}<//
      >`
    }`;
}

/**
 * When a token was used last. Nothing if it is not known: it is not among the read tokens if it is new, or if there are
 * many.
 */
function LastUse({ token, now }) {
  if (!token) return null;
  const { last_used_at: at, last_used_from: from } = token;
  if (!at) return html`<span class="faint">${t.never}</span>`;
  return html`<time title=${exactTime(at)}>${relative(at, now)}</time>${" "}<span class="dim"
      >${from && t.access.from(from)}</span
    >`;
}

function Grant({ base, close, done }) {
  const form = useForm({ fingerprint: "" });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ fingerprint }) => {
      await send("PUT", `${base}${path(fingerprint.trim())}`);
      done();
    });
  };
  return html`<${Dialog} title=${t.selection.grant} close=${close}>
    <form class="stack" onSubmit=${submit}>
      <${TokenField} form=${form} />
      <${FormError} form=${form} />
      <div class="row actions">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button
        ><button class="btn pri" disabled=${form.isSending || !form.values.fingerprint}>${t.selection.grant}</button>
      </div>
    </form>
  <//>`;
}
