// The form for a new collection: a name is enough.

import { html, useContext } from "../../lib/html.js";
import { About } from "../../lib/access.js";
import { send } from "../../lib/api.js";
import { go } from "../../lib/navigation.js";
import { Expectation, Limits, Names, Retention, bodyOf, valuesOf } from "../../components/collection_form.js";
import { Dialog } from "../../components/dialog.js";
import { FormError, useForm } from "../../components/form.js";
import { t } from "../../texts/collections.js";

function draft(strategies) {
  return valuesOf({
    name: "",
    description: "",
    labels: [],
    expected_every: "P1D",
    grace: null,
    strategy: strategies.includes("keep") ? "keep" : strategies[0],
    strategy_options: null,
    limits: { versions: 0, version_size: 0, total_size: 0 },
    guards: { min_retention: "PT0S" }, // the service has defaults for the others
  });
}

export default function NewCollection({ close }) {
  const { strategies } = useContext(About);
  const form = useForm(draft(strategies));
  const submit = (event) => {
    event.preventDefault();
    form.submit(async (values) => {
      const names = ["name", "description", "labels", "expected_every", "strategy", "strategy_options."];
      const limits = ["limits.versions", "limits.version_size", "limits.total_size"].filter((name) => values[name]);
      const made = await send("POST", "/collections", { body: bodyOf(values, [...names, ...limits]) });
      go(["collections", made.id, "send"]);
    });
  };
  return html`<${Dialog} title=${t.noCollections.create} close=${close} isWide>
    <form class="stack" onSubmit=${submit}>
      <${Names} form=${form} />
      <${Expectation} form=${form} />
      <${Retention} form=${form} />
      <${Limits} form=${form} isNew />
      <p class="faint sm">${t.form.limitsHint}</p>
      <${FormError} form=${form} />
      <div class="row actions held">
        <button type="button" class="btn" onClick=${close}>${t.cancel}</button>
        <button class="btn pri" disabled=${form.isSending}>${t.form.create}</button>
      </div>
    </form>
  <//>`;
}
