// The form for a new token: a preset or single roles, the collections that list it, and what it is restricted to.

import { html, useEffect, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { Problem, path, read, send } from "../../lib/api.js";
import { link } from "../../lib/navigation.js";
import { Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/tokens.js";
import { PRESETS } from "./presets.js";

const START = { name: "", preset: "send", roles: [], collections: [], lifetime: "", "restrictions.ip_addresses": "" };
const SECONDS_A_DAY = 24 * 3600;

/** `finish(token)` is called with the answer, which has the secret. */
export function NewToken({ finish }) {
  const form = useForm(START);
  const access = useAccess();
  const { values } = form;
  const [typed, setTyped] = useState("");
  const isGranting = access.may("collection.tokens") && values.preset !== "administrator";
  const submit = (event) => {
    event.preventDefault();
    if (isGranting && typed.trim()) return form.setErrors({ collections: t.notAdded(typed.trim()) });
    return form.submit(() => create(values, isGranting).then(finish));
  };
  return html`<form class="card stack" onSubmit=${submit}>
    <div class="row">
      <h2 class="grow">${t.new}</h2>
      <a class="btn bare s" aria-label=${common.close} href=${link(["tokens"])}><${Icon} name="close" /></a>
    </div>
    <${Field} label=${t.name} ...${fieldOf(form, "name")} maxlength="128" autofocus />
    <fieldset class="stack">
      <legend>${t.what}</legend>
      ${Object.entries(t.presets).map(
        ([name, [title, text]]) =>
          html`<label class="pick">
            <input
              type="radio"
              name="preset"
              checked=${values.preset === name}
              onChange=${() => form.set("preset", name)}
            />
            <span><b>${title}</b><span class="dim sm row">${text}</span></span>
          </label>`,
      )}
    </fieldset>
    ${values.preset === "custom" && html`<${Roles} form=${form} />`}
    ${
      isGranting &&
      html`<${Collections}
        chosen=${values.collections}
        set=${(some) => form.set("collections", some)}
        text=${typed}
        setText=${setTyped}
        missing=${form.errors.collections}
      />`
    }
    <${Field}
      label=${t.expires}
      ...${fieldOf(form, "lifetime")}
      error=${form.errors.expires_at}
      options=${Object.entries(t.lifetimes).sort(([one], [other]) => Number(one) - Number(other))}
    />
    <${Field} label=${t.addresses} ...${fieldOf(form, "restrictions.ip_addresses")} hint=${t.addressesHint} />
    <${FormError} form=${form} />
    <div class="row actions held">
      <a class="btn" href=${link(["tokens"])}>${common.cancel}</a
      ><button class="btn pri" disabled=${form.isSending}>${t.create}</button>
    </div>
  </form>`;
}

async function create(values, isGranting) {
  const roles = PRESETS[values.preset] ?? values.roles;
  const wrong = [
    ...(values.name.trim() ? [] : [{ field: "name", message: t.needsName }]),
    ...(roles.length ? [] : [{ field: "roles", message: t.needsRoles }]),
  ];
  if (wrong.length) throw new Problem(400, { detail: wrong[0].message, errors: wrong });
  const addresses = values["restrictions.ip_addresses"].split(/[\s,]+/).filter(Boolean);
  const end = values.lifetime
    ? new Date(Date.now() + Number(values.lifetime) * SECONDS_A_DAY * 1000).toISOString()
    : null;
  const token = await send("POST", "/tokens", {
    body: { name: values.name.trim(), roles, expires_at: end, restrictions: { ip_addresses: addresses } },
  });
  const granted = isGranting ? values.collections : [];
  const done = await Promise.allSettled(
    granted.map(({ id }) => send("PUT", `${path("collections", id, "access", token.fingerprint)}`)),
  );
  // The token exists and its secret is shown only now, so what failed afterwards is told next to it.
  const failed = granted.filter((_, place) => done[place].status === "rejected");
  return { ...token, collections: granted.filter((one) => !failed.includes(one)), failed };
}

function Roles({ form }) {
  const { roles } = form.values;
  const toggle = (role) =>
    form.set("roles", roles.includes(role) ? roles.filter((one) => one !== role) : [...roles, role]);
  return html`<fieldset class="stack">
    <legend>${t.roles}</legend>
    ${form.errors.roles && html`<p class="err" role="alert"><${Icon} name="overdue" />${form.errors.roles}</p>`}
    ${Object.entries(t.roleTexts).map(
      ([role, text]) =>
        html`<label class="row check">
          <input type="checkbox" checked=${roles.includes(role)} onChange=${() => toggle(role)} />
          <span class="grow">${text}<code class="sm faint row">${role}</code></span>
        </label>`,
    )}
  </fieldset>`;
}

/** The collection of a name, or the only one that has it as a part; else the problem in words. */
async function findCollection(name) {
  try {
    const { items } = await read("/collections", { query: { q: name, limit: 20 } });
    const match = items.find((one) => one.name === name) ?? (items.length === 1 ? items[0] : null);
    return { match, problem: match ? "" : t.noSuchCollection(name) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { match: null, problem: error.message };
  }
}

/** Choose collections by name: the browser offers those that match the typed `text`. `missing` is an error about it. */
function Collections({ chosen, set, text, setText, missing }) {
  const [found, setFound] = useState(/** @type {{ id: string; name: string }[]} */ ([]));
  const [error, setError] = useState("");
  useEffect(() => {
    const timer = setTimeout(
      () =>
        read("/collections", { query: { q: text, limit: 20 } }).then(
          (page) => setFound(page.items),
          () => {},
        ),
      200,
    );
    return () => clearTimeout(timer);
  }, [text]);
  const add = async (name) => {
    const { match, problem } = await findCollection(name);
    setError(problem);
    if (!match) return;
    setText("");
    if (!chosen.some((one) => one.id === match.id)) set([...chosen, { id: match.id, name: match.name }]);
  };
  const change = (value) => {
    setText(value);
    setError("");
    if (found.some((one) => one.name === value)) add(value);
  };
  const onKeyDown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault(); // Enter here never sends the form, not even if a match was added while it was typed
    if (text) add(text);
  };
  return html`<div class="stack">
    <${Field}
      label=${t.which}
      value=${text}
      change=${change}
      error=${error || (text && missing)}
      list="collection-names"
      placeholder=${t.addCollection}
      onKeyDown=${onKeyDown}
    />
    <datalist id="collection-names">${found.map((one) => html`<option value=${one.name}></option>`)}</datalist>
    ${
      chosen.length > 0 &&
      html`<ul class="row wrap">
        ${chosen.map(
          (one) =>
            html`<li class="tag row">
              <span class="cut">${one.name}</span>
              <button
                type="button"
                class="btn bare s"
                aria-label=${t.remove(one.name)}
                onClick=${() => set(chosen.filter((other) => other !== one))}
              >
                <${Icon} name="close" />
              </button>
            </li>`,
        )}
      </ul>`
    }
  </div>`;
}
