// The button that deletes a collection, after a question.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { path, send } from "../../lib/api.js";
import { date, size } from "../../lib/format.js";
import { go } from "../../lib/navigation.js";
import { Confirm } from "../../components/dialog.js";
import { Icon } from "../../components/icons.js";
import { t } from "../../texts/collection.js";

/** Deletes the collection. With a trash its versions go there; without one it must be empty. */
export function DeleteButton({ collection }) {
  const access = useAccess();
  const [isAsking, setAsking] = useState(false);
  const until = access.trashEnds;
  const { versions, stored_size: bytes } = collection;
  const run = async () => {
    await send("DELETE", `/collections${path(collection.id)}`, {
      query: versions && until ? { versions: "trash" } : {},
    });
    go(["collections"]);
  };
  const text = until
    ? t.collection.deleteToTrash(versions, size(bytes), date(until))
    : versions === 0
      ? t.collection.deleteEmpty
      : t.collection.deleteFirst(versions);
  return html`<button
      class="btn bad"
      aria-label=${t.collection.delete}
      title=${t.collection.delete}
      onClick=${() => setAsking(true)}
    >
      <${Icon} name="trash" />
    </button>
    ${
      isAsking &&
      html`<${Confirm}
        title=${t.collection.deleteTitle(collection.name)}
        action=${t.collection.delete}
        run=${run}
        close=${() => setAsking(false)}
        >${text}<//
      >`
    }`;
}
