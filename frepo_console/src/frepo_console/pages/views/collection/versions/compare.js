// A version in quarantine next to the newest good one: size, kind, and the last lines of both.

import { html } from "../../../lib/html.js";
import { Problem, answerOf, apiUrl, headersWithToken, path, read } from "../../../lib/api.js";
import { useReading } from "../../../lib/data.js";
import { dateTime, percent, size } from "../../../lib/format.js";
import { Dialog } from "../../../components/dialog.js";
import { Loaded } from "../../../components/feedback.js";
import { t } from "../../../texts/version.js";
import { isLocked } from "../lock.js";
import { versionPath } from "./actions.js";
import { Release, Verdict, verdictOf } from "./rows.js";

// A compressed content is read as a whole for its last lines.
const MOST_COMPRESSED = 16_000_000;
const TAIL = 4096;
const LINES = 6;

export default CompareDialog;

export function CompareDialog({ collection, version, open, changed, close, now }) {
  const key = `compare ${collection.id} ${version.number}`;
  const compared = useReading(key, () => readBoth(collection, version), 0);
  const done = () => {
    close();
    changed();
  };
  return html`<${Dialog} title=${t.compare.title(version.number)} close=${close} isWide>
    <${Loaded} resource=${compared}>${(both) => html`<${Both} both=${both} now=${now} />`}<//>
    <div class="row actions">
      ${
        collection.may.includes("version.delete") &&
        !isLocked(version) &&
        html`<button class="btn bad" onClick=${() => (close(), open.delete([version]))}>
          ${t.versions_.deleteOne(t.versions_.number(version.number))}
        </button>`
      }
      <${Release} ...${{ version, collection, changed: done, className: "btn" }} />
    </div>
  <//>`;
}

async function readBoth(collection, version) {
  const good = await read(`/collections${path(collection.id, "versions", "good")}`).catch((error) => {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  });
  const both = [version, good].filter(Boolean);
  return Promise.all(both.map(async (one) => ({ version: one, tail: await tailOf(collection, one) })));
}

function Both({ both, now }) {
  const [, good] = both;
  /** @type {[string, (one: any) => any][]} */
  const rows = [
    [t.versions_.received, ({ created_at: at }) => dateTime(at, now)],
    [
      t.table.size,
      (one) =>
        good?.version.size && one !== good.version
          ? `${size(one.size)} (${percent(one.size / good.version.size - 1, { isChange: true })})`
          : size(one.size),
    ],
    [t.panel.kind, (one) => one.mime_type],
    [t.versions_.verdict, (one) => html`<${Verdict} version=${one} />`],
    [t.compare.reason, (one) => verdictOf(one)[2] ?? t.none],
  ];
  return html`<table class="fit">
      <thead>
        <tr>
          <td></td>
          ${both.map(
            ({ version }) =>
              html`<th>${t.versions_.number(version.number)}${version === good?.version && `, ${t.compare.good}`}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name, text]) =>
            html`<tr>
              <th>${name}</th>
              ${both.map(({ version }) => html`<td>${text(version)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
    ${!good && html`<p>${t.compare.noneGood}</p>`}
    ${both.map(
      ({ version, tail }) =>
        html`<h3>${t.compare.lastLines(version.number)}</h3>
          ${
            typeof tail === "string"
              ? html`<pre tabindex="0">${tail}</pre>`
              : html`<p class="dim">${t.compare.unread[tail.why]}</p>`
          }`,
    )}`;
}

/** The last lines of a content as text, or why there are none. */
async function tailOf(collection, version) {
  const url = apiUrl(`${versionPath(collection, version.number)}/content`);
  if (version.size === 0) return { why: "empty" };
  const first = await bytesOf(url, "bytes=0-1");
  const isGzip = first[0] === 0x1f && first[1] === 0x8b;
  if (isGzip && version.size > MOST_COMPRESSED) return { why: "large" };
  const bytes = isGzip ? await unzipped(url) : await bytesOf(url, `bytes=-${TAIL}`);
  if (bytes.includes(0)) return { why: "binary" };
  const text = new TextDecoder().decode(bytes.slice(-TAIL));
  return text.trimEnd().split("\n").slice(-LINES).join("\n") || { why: "empty" };
}

const bytesOf = async (url, range) =>
  new Uint8Array(await (await answerOf(url, { headers: headersWithToken({ Range: range }) })).arrayBuffer());

/** What can be unpacked: a file that was cut off ends where it was cut. Only the end is kept. */
async function unzipped(url) {
  const { body } = await answerOf(url, { headers: headersWithToken() });
  let tail = new Uint8Array();
  try {
    // @ts-ignore: the types of the streams do not say that a part is an array of bytes
    for await (const part of body.pipeThrough(new DecompressionStream("gzip"))) {
      const both = new Uint8Array(tail.length + part.length);
      both.set(tail);
      both.set(part, tail.length);
      tail = both.slice(-TAIL);
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return tail;
}
