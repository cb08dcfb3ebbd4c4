// All that is known about one version: its verdict with the reason, size, digest, sender, copies, checks, and the
// command that restores it.

import { html } from "../../../lib/html.js";
import { useAccess } from "../../../lib/access.js";
import { apiUrl } from "../../../lib/api.js";
import { useResource } from "../../../lib/data.js";
import { dateTime, exactTime, size } from "../../../lib/format.js";
import { ActionButton } from "../../../components/action.js";
import { Dialog } from "../../../components/dialog.js";
import { eventTitle, nameOfActor } from "../../../components/event.js";
import { ErrorNote, Loaded } from "../../../components/feedback.js";
import { CopyButton } from "../../../components/form.js";
import { Icon } from "../../../components/icons.js";
import { TOKEN_FILE, quoted } from "../../../components/shell_text.js";
import { t } from "../../../texts/version.js";
import { downloadVersion, fileName, versionPath } from "./actions.js";
import { Release, Verdict, verdictOf } from "./rows.js";

const SENT = ["version.added", "version.quarantined"];

export default function VersionPanel({ collection, number, open, changed, close, now }) {
  const version = useResource(versionPath(collection, number));
  return html`<${Dialog} title=${t.panel.title(number, collection.name)} close=${close} isWide>
    <${Loaded} resource=${version}
      >${(data) =>
        html`<${Shown}
          version=${data}
          collection=${collection}
          open=${open}
          changed=${() => (version.reload(), changed())}
          now=${now}
        />`}<//
    >
  <//>`;
}

function Shown({ version, collection, open, changed, now }) {
  const access = useAccess();
  const checks = useResource(`${versionPath(collection, version.number)}/checks`);
  const events = useResource(access.may("events.view") ? "/events" : null, {
    query: { collection: collection.id, version: version.number, limit: 100 },
  });
  const [, , reason] = verdictOf(version);
  const sent = events.data?.items.findLast(({ kind }) => SENT.includes(kind));
  const command = restoreCommand(collection, version);
  const facts = [
    [t.versions_.verdict, html`<${Verdict} version=${version} />${reason && html`<p class="sm">${reason}</p>`}`],
    [t.versions_.received, `${exactTime(version.created_at)}`],
    sent && [t.panel.sender, [nameOfActor(sent), sent.address && t.panel.from(sent.address)].filter(Boolean).join(" ")],
    [t.table.size, size(version.size)],
    [t.panel.kind, version.mime_type],
    ["SHA-256", html`<code>${version.sha256}</code>`],
    version.copies && [t.panel.copies, t.panel.copiesOf(version.copies.present, version.copies.wanted)],
    version.pinned && [t.versions_.pinned, version.pin_reason || t.panel.noReason],
    version.note && [t.versions_.note, version.note],
  ].filter(Boolean);
  return html`<dl class="keys">
      ${facts.map(
        ([name, value]) =>
          html`<dt class="dim">${name}</dt>
            <dd class="cell">${value}</dd>`,
      )}
      <dt class="dim">${t.versions_.checks}</dt>
      <dd><${Checks} checks=${checks} now=${now} /></dd>
      ${
        events.data?.items.length > 0 &&
        html`<dt class="dim">${t.panel.events}</dt>
          <dd>
            <ul class="sm">
              ${events.data.items.map(
                (event) =>
                  html`<li key=${event.position}>
                    ${dateTime(event.at, now)}: ${eventTitle(event)}, ${t.by(nameOfActor(event))}
                  </li>`,
              )}
            </ul>
          </dd>`
      }
    </dl>
    <h3>${t.panel.restore}</h3>
    <pre tabindex="0">${command}</pre>
    <div class="row wrap actions">
      <${CopyButton} text=${command} label=${t.panel.copyCommand} />
      ${(version.quarantined || version.condemned_at) && html`<${Release} ...${{ version, collection, changed, className: "btn" }} />`}
      ${
        version.quarantined &&
        html`<button class="btn" onClick=${() => open.compare(version)}>${t.versions_.compare}</button>`
      }
      <${ActionButton} className="btn pri" run=${() => downloadVersion(collection, version)}
        ><${Icon} name="download" />${t.panel.download}<//
      >
    </div>`;
}

function Checks({ checks, now }) {
  if (checks.error) return html`<${ErrorNote} error=${checks.error} at=${checks.at} retry=${checks.retry} />`;
  const items = checks.data?.items ?? [];
  if (items.length === 0) return checks.data && html`<span class="faint">${t.versions_.unchecked}</span>`;
  return html`<ul class="sm">
    ${items.map(
      (one) =>
        html`<li key=${one.name}>
          <b>${one.name}</b> ${t.versions_.outcomes[one.outcome] ?? one.outcome}, ${dateTime(one.at, now)}
          ${one.message && html`<div class="dim">${one.message}</div>`}
        </li>`,
    )}
  </ul>`;
}

/** Downloads the version on a server, and compares its digest. */
function restoreCommand(collection, version) {
  const { number, sha256 } = version;
  const name = fileName(collection.name, version);
  const url = apiUrl(`/collections/${collection.id}/versions/v${number}/content`);
  return `curl --fail-with-body -sS -H @${TOKEN_FILE} -o ${quoted(name)} \\
  ${url} &&
  echo ${quoted(`${sha256}  ${name}`)} | sha256sum -c -`;
}
