// Deleted collections, which can be restored with their versions for a while.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { useList } from "../../lib/data.js";
import { dateTime, exactTime, size } from "../../lib/format.js";
import { go } from "../../lib/navigation.js";
import { Confirm } from "../../components/dialog.js";
import { ErrorNote } from "../../components/feedback.js";
import { Icon } from "../../components/icons.js";
import { ListEnd } from "../../components/table.js";
import { t } from "../../texts/collections.js";
import { ActionButton } from "../../components/action.js";

const PATH = "/deleted-collections";

export function DeletedCollections({ now }) {
  const access = useAccess();
  const list = useList(PATH, { limit: 20 });
  const [ending, setEnding] = useState(
    /** @type {{ incarnation: string; name: string; size: number } | null} */ (null),
  );
  const items = list.items ?? [];
  if (items.length === 0 && !list.error) return null;
  const restore = (one) => async () =>
    go(["collections", (await send("POST", `${PATH}${path(one.incarnation, "restore")}`)).id]);
  const end = async () => {
    await send("DELETE", `${PATH}${path(ending?.incarnation)}`);
    list.reload();
  };
  return html`<section class="card flush">
    <div class="sec">
      <h2>${t.deleted.title}</h2>
      <p class="dim sm">${t.trash.text}</p>
    </div>
    ${list.error && html`<${ErrorNote} error=${list.error} at=${list.at} retry=${list.retry} />`}
    <ul class="list">
      ${items.map(
        (one) =>
          html`<li key=${one.incarnation}>
            <span class="faint"><${Icon} name="trash" /></span>
            <div class="grow">
              <b>${one.name}</b>${" "}<span class="dim"
                >${t.versions(one.versions)}, ${size(one.size)}, ${t.deleted.at(dateTime(one.deleted_at, now))}</span
              >
              <div class="sm dim" title=${exactTime(one.ends_at)}>${t.trash.until(dateTime(one.ends_at, now))}</div>
            </div>
            <div class="row">
              ${
                access.may("collection.restore") &&
                html`<${ActionButton} run=${restore(one)}
                  ><${Icon} name="retry" />${t.trash.restore}<span class="vh"> ${one.name}</span><//
                >`
              }
              ${
                access.may("trash.end") &&
                html`<button class="btn s bare bad" onClick=${() => setEnding(one)}>
                  ${t.trash.end}<span class="vh"> ${one.name}</span>
                </button>`
              }
            </div>
          </li>`,
      )}
    </ul>
    ${items.length > 0 && html`<${ListEnd} list=${list} />`}
    ${
      ending &&
      html`<${Confirm}
        title=${t.deleted.endTitle(ending.name)}
        action=${t.trash.endAction}
        run=${end}
        close=${() => setEnding(null)}
        >${t.trash.endText(size(ending.size))}<//
      >`
    }
  </section>`;
}
