// Which other collections got the bytes of the newest version: a job may send the wrong file, or a fleet the same one.

import { html } from "../../lib/html.js";
import { path } from "../../lib/api.js";
import { useResource } from "../../lib/data.js";
import { exactTime } from "../../lib/format.js";
import { link } from "../../lib/navigation.js";
import { t } from "../../texts/collection.js";

/** The service compares only contents above this size. */
const LEAST_SIZE = 64 * 1024;

export function SameContent({ collection }) {
  const { id, last_version: last, may } = collection;
  const isCompared = last?.size > LEAST_SIZE && may.includes("version.list");
  const version = useResource(isCompared ? `/collections${path(id, "versions", `v${last.number}`)}` : null, {
    every: 0,
  });
  const found = version.data?.same_content_in ?? [];
  if (!found.length) return null;
  return html`<p class="dim">
    ${t.facts.sameContent}${" "}
    ${found.map(
      (one, index) =>
        html`${index > 0 && ", "}<a href=${link(["collections", one.collection])} title=${exactTime(one.at)}
            >${t.facts.sameIn(one.name, one.number)}</a
          >`,
    )}
  </p>`;
}
