// One file: its picture, its links, who reaches it, and its aliases.

import { html, useState } from "../../lib/html.js";
import { useAccess } from "../../lib/access.js";
import { apiUrl, path, send } from "../../lib/api.js";
import { readAll, useReading, useResource } from "../../lib/data.js";
import { date, dateTime, exactTime, size } from "../../lib/format.js";
import { go, link } from "../../lib/navigation.js";
import { ActionButton } from "../../components/action.js";
import { Confirm } from "../../components/dialog.js";
import { ErrorNote, Loaded, Note } from "../../components/feedback.js";
import { CopyButton, Field, FormError, fieldOf, useForm } from "../../components/form.js";
import { Icon } from "../../components/icons.js";
import { t as common } from "../../texts.js";
import { t } from "../../texts/files.js";
import { Picture, fileUrl, reachOf } from "./file.js";

export function FileDetails({ name, reload }) {
  const resource = useResource(path("files", name));
  const changed = () => {
    resource.reload();
    reload();
  };
  return html`<${Loaded} resource=${resource}
    >${(file) => html`<${Card} key=${JSON.stringify(file)} file=${file} changed=${changed} reload=${reload} />`}<//
  >`;
}

function Card({ file, changed, reload }) {
  const access = useAccess();
  const [isAsking, setAsking] = useState(false);
  const mayAlias = access.may("aliases.manage");
  const aliases = useReading(
    mayAlias ? `aliases ${file.name}` : null,
    () => readAll("/aliases").then((items) => items.filter((one) => one.file === file.name)),
    0,
  );
  const found = aliases.data ?? [];
  const renamed = (name) => {
    reload();
    go(["files", name]);
  };
  const remove = async () => {
    await send("DELETE", path("files", file.name));
    reload();
    go(["files"]);
  };
  return html`<section class="card stack">
    <div class="row">
      <h2 class="grow">${file.requested_name}</h2>
      <a class="btn bare s" aria-label=${common.close} href=${link(["files"])}><${Icon} name="close" /></a>
    </div>
    <div class="gal one"><${Picture} file=${file} /></div>
    ${file.damaged && html`<${Note} state="damaged" title=${t.damaged} />`}
    <dl class="facts">
      <div>
        <dt>${t.size}</dt>
        <dd>${size(file.size)}<small>${file.mime_type}</small></dd>
      </div>
      <div>
        <dt>${t.added}</dt>
        <dd><time title=${exactTime(file.created_at)}>${date(file.created_at)}</time></dd>
      </div>
    </dl>
    <${Copyable} label=${t.link} text=${fileUrl(found[0]?.alias ?? file.name)} />
    <${TimedLink} file=${file} />
    ${access.may("file.overwrite") && html`<${Settings} file=${file} changed=${changed} renamed=${renamed} />`}
    ${mayAlias && html`<${Aliases} file=${file} list=${aliases} />`}
    <div class="row">
      <${Download} file=${file} />
      ${
        access.may("file.delete_any") &&
        html`<button class="btn bad end" onClick=${() => setAsking(true)}><${Icon} name="trash" />${t.remove}</button>`
      }
    </div>
    ${
      isAsking &&
      html`<${Confirm}
        title=${t.removeTitle(file.requested_name)}
        action=${t.remove}
        run=${remove}
        close=${() => setAsking(false)}
      >
        <p>${t.removeText(size(file.size))}</p>
        ${
          aliases.error
            ? html`<p>${t.removeUnknownAliases}</p>`
            : found.length > 0 && html`<p>${t.removeAliases(found.length)}</p>`
        }
      <//>`
    }
  </section>`;
}

/** A text that cannot be changed, with a button that copies it. */
const Copyable = ({ label, text }) =>
  html`<div>
    <h3>${label}</h3>
    <div class="row">
      <input
        class="in mono"
        readonly
        aria-label=${label}
        value=${text}
        onFocus=${(event) => event.target.select()}
      /><${CopyButton} text=${text} />
    </div>
  </div>`;

function TimedLink({ file }) {
  const form = useForm({ expires_in: "PT10M" });
  const [made, setMade] = useState(/** @type {{ url: string; expires_at: string } | null} */ (null));
  const make = (event) => {
    event.preventDefault();
    form.submit(async ({ expires_in }) =>
      setMade(await send("POST", `${path("files", file.name)}/link`, { body: { expires_in } })),
    );
  };
  return html`<form class="stack" onSubmit=${make}>
    <h3>${t.timed}</h3>
    <div class="row">
      <select class="in" aria-label=${t.timed} onChange=${(event) => form.set("expires_in", event.target.value)}>
        ${Object.entries(t.lifetimes).map(
          ([value, text]) => html`<option value=${value} selected=${value === form.values.expires_in}>${text}</option>`,
        )}
      </select>
      <button class="btn" disabled=${form.isSending}>${t.makeLink}</button>
    </div>
    <${FormError} form=${form} />
    ${
      made
        ? html`<${Copyable} label=${t.ends(dateTime(made.expires_at))} text=${made.url} />`
        : html`<p class="faint sm">${t.timedText}</p>`
    }
  </form>`;
}

function Settings({ file, changed, renamed }) {
  const form = useForm({
    name: file.requested_name,
    tags: file.tags.join(", "),
    reach: file.public ? "public" : "link",
    password: "",
  });
  const submit = (event) => {
    event.preventDefault();
    form.submit(async ({ name, tags, reach, password }) => {
      const body = {
        ...(form.changed.includes("tags") && { tags: tags.split(/[\s,]+/).filter(Boolean) }),
        ...(form.changed.includes("reach") && { public: reach === "public" }),
        ...(name !== file.requested_name && { name }),
        ...(password && { password }),
      };
      const saved = await send("PATCH", path("files", file.name), { body });
      // A new name is a new address.
      if (saved.name !== file.name) renamed(saved.name);
      else changed();
    });
  };
  const removePassword = () =>
    form.submit(
      async () => void (await send("PATCH", path("files", file.name), { body: { password: null } }), changed()),
    );
  return html`<form class="stack" onSubmit=${submit}>
    <${Field} label=${t.name} ...${fieldOf(form, "name")} hint=${form.changed.includes("name") ? t.renameHint : ""} />
    <fieldset>
      <legend>${t.reachable}</legend>
      ${Object.entries(t.choices).map(
        ([value, text]) =>
          html`<label class="row check"
            ><input
              type="radio"
              name="reach"
              checked=${form.values.reach === value}
              onChange=${() => form.set("reach", value)}
            />${text}</label
          >`,
      )}
    </fieldset>
    <${Field} label=${t.tags} ...${fieldOf(form, "tags")} hint=${t.newTagsHint} />
    <${Field}
      label=${t.password}
      type="password"
      ...${fieldOf(form, "password")}
      hint=${reachOf(file) === "password" ? t.passwordSet : t.passwordHint}
    />
    ${
      reachOf(file) === "password" &&
      html`<div class="row">
        <button type="button" class="btn s" onClick=${removePassword}>${t.removePassword}</button>
      </div>`
    }
    <${FormError} form=${form} />
    ${
      form.changed.length > 0 &&
      html`<div class="row actions">
        <button type="button" class="btn" onClick=${() => form.reset()}>${common.discard}</button
        ><button class="btn pri" disabled=${form.isSending}>${t.save}</button>
      </div>`
    }
  </form>`;
}

function Aliases({ file, list }) {
  const { data, error, at, reload, retry } = list;
  const aliases = data ?? [];
  const form = useForm({ alias: "" });
  const add = (event) => {
    event.preventDefault();
    form.submit(async ({ alias }) => {
      await send("PUT", path("aliases", alias.trim()), { body: { file: file.name } });
      form.reset();
      reload();
    });
  };
  const remove = (alias) => form.submit(async () => void (await send("DELETE", path("aliases", alias)), reload()));
  return html`<form class="stack" onSubmit=${add}>
    <h3>${t.aliasOf}</h3>
    ${error && html`<${ErrorNote} error=${error} at=${at} retry=${retry} />`}
    <div class="row">
      <input
        class="in"
        aria-label=${t.alias}
        placeholder=${t.aliasHint}
        value=${form.values.alias}
        onInput=${(event) => form.set("alias", event.target.value)}
      /><button class="btn" disabled=${form.isSending || !form.values.alias.trim()}>${t.addAlias}</button>
    </div>
    ${
      aliases.length > 0 &&
      html`<ul class="row wrap" aria-label=${t.aliasOf}>
        ${aliases.map(
          (one) =>
            html`<li class="tag row">
              <code>${one.alias}</code>${
                !one.read_only &&
                html`<button
                  type="button"
                  class="btn bare s"
                  aria-label=${t.removeAlias(one.alias)}
                  onClick=${() => remove(one.alias)}
                >
                  <${Icon} name="close" />
                </button>`
              }
            </li>`,
        )}
      </ul>`
    }
    ${form.errors.alias && html`<p class="err" role="alert">${form.errors.alias}</p>`}<${FormError} form=${form} />
  </form>`;
}

/** Download an open file by its address, another one by a link that ends soon. */
function Download({ file }) {
  const url = apiUrl(`${path("files", file.name)}/content`);
  if (!file.password_protected)
    return html`<a class="btn" data-key="d" href=${url} download=${file.requested_name}
      ><${Icon} name="download" />${t.download}</a
    >`;
  const save = async () => {
    const { url: signed } = await send("POST", `${path("files", file.name)}/link`, { body: { expires_in: "PT10M" } });
    location.assign(signed);
  };
  return html`<${ActionButton} className="btn" data-key="d" run=${save}><${Icon} name="download" />${t.download}<//>`;
}
