// Fields of forms with their errors, and the state of a form that is sent to the API.

import { html, useId, useState } from "../lib/html.js";
import { Problem } from "../lib/api.js";
import { t } from "../texts.js";
import { Icon } from "./icons.js";

/** The choice of a field that many have in common: as it is in each of them. */
const LEAVE = "\u0000";

/**
 * A field with a label, a hint and an error. `value` and `change(value)` are the state; `options` ([value, text]) makes
 * it a choice, `rows` a text of several lines. `leave` is what many have in a field that is sent only if it was touched:
 * its value is undefined until then.
 */
export function Field({ label, value, change, error, hint, options, rows, leave, type = "text", ...more }) {
  const id = useId();
  const isLeft = leave !== undefined && value === undefined;
  if (leave !== undefined && options) options = [[LEAVE, t.leave(leave)], ...options];
  else if (leave !== undefined) hint = [t.now(leave), hint].filter(Boolean).join(". ");
  const control = {
    ...more,
    ...(isLeft && { placeholder: t.asItIs }),
    id,
    value: isLeft && options ? LEAVE : (value ?? ""),
    onInput: (event) => change(event.target.value === LEAVE ? undefined : event.target.value),
    "aria-invalid": error ? "true" : undefined,
    "aria-describedby": error || hint ? `${id}-note` : undefined,
  };
  return html`<div class="field">
    ${
      leave === undefined || options
        ? html`<label for=${id}>${label}</label>`
        : html`<div class="row">
            <label class="grow" for=${id}>${label}</label>
            <input
              type="checkbox"
              checked=${!isLeft}
              aria-label=${t.changeField(label)}
              title=${t.changeField(label)}
              onChange=${(event) => change(event.target.checked ? "" : undefined)}
            />
          </div>`
    }
    ${
      options
        ? html`<select class="in" ...${control}>
            ${options.map(
              ([key, text]) => html`<option value=${key} selected=${key === control.value}>${text}</option>`,
            )}
          </select>`
        : rows
          ? html`<textarea class="in" rows=${rows} ...${control}></textarea>`
          : html`<input class="in" type=${type} autocomplete="off" ...${control} />`
    }
    ${
      error
        ? html`<p class="err" id=${`${id}-note`}><${Icon} name="overdue" />${error}</p>`
        : hint && html`<p class="faint sm" id=${`${id}-note`}>${hint}</p>`
    }
  </div>`;
}

/** A check box with its text; a choice with `leave`, as that of a `Field`. */
export function Check({ label, value, change, leave, ...more }) {
  if (leave !== undefined) {
    const options = Object.entries(t.yesOrNo);
    const set = (chosen) => change(chosen && chosen === "yes");
    const chosen = value === undefined ? undefined : value ? "yes" : "no";
    return html`<${Field} label=${label} value=${chosen} change=${set} leave=${leave} options=${options} />`;
  }
  return html`<label class="row check"
    ><input
      type="checkbox"
      checked=${value}
      onChange=${(event) => change(event.target.checked)}
      ...${more}
    />${label}</label
  >`;
}

/**
 * The state of a form: `values`, `set(name, value)`, `errors` by field, `message` for an error of no field, `changed`
 * (the names of changed fields), `reset()`, and `submit(send)`: `send(values)` may throw `Problem`.
 */
export function useForm(start) {
  const [values, setValues] = useState(start);
  const [errors, setErrors] = useState(/** @type {Record<string, string>} */ ({}));
  const [message, setMessage] = useState("");
  const [isSending, setSending] = useState(false);
  /** @type {(name: string, value: unknown) => void} */
  const set = (name, value) => {
    setValues((old) => ({ ...old, [name]: value }));
    setErrors(({ [name]: _, ...others }) => others);
  };
  const reset = (to = start) => {
    setValues(to);
    setErrors({});
    setMessage("");
  };
  const submit = async (send) => {
    setSending(true);
    setErrors({});
    setMessage("");
    try {
      await send(values);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setErrors(error.fields);
      const shown = Object.keys(error.fields).filter((field) => field in values);
      setMessage(shown.length ? t.wrongFields(shown.length) : error.message);
      if (shown.length) requestAnimationFrame(focusFirstError);
    } finally {
      setSending(false);
    }
  };
  const changed = Object.keys(values).filter((name) => values[name] !== start[name]);
  return { values, set, errors, setErrors, message, isSending, changed, reset, submit };
}

/** Give the focus to the first wrong field of the form, or of the dialog above it. */
function focusFirstError() {
  const place = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
  const field = place.querySelector("[aria-invalid=true]");
  if (field instanceof HTMLElement) field.focus();
}

/** The attributes of a `Field` for a field of a form. */
export const fieldOf = (form, name) => ({
  value: form.values[name],
  change: (value) => form.set(name, value),
  error: form.errors[name],
  leave: form.leaves?.[name],
});

/** Why the form was not sent, next to its button. */
export const FormError = ({ form }) =>
  form.message && html`<p class="err" role="alert"><${Icon} name="overdue" />${form.message}</p>`;

/** Copy a text, also where the page is not from localhost or HTTPS and has no clipboard. */
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text });
  (document.activeElement ?? document.body).after(area);
  area.select();
  document.execCommand("copy");
  return area.remove();
}

/** A button that copies a text, and says so. */
export function CopyButton({ text, label = t.copy, isPrimary = false }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return html`<button type="button" class=${isPrimary ? "btn pri" : "btn"} onClick=${copy}>
    <${Icon} name=${isCopied ? "ok" : "copy"} /><span aria-live="polite">${isCopied ? t.copied : label}</span>
  </button>`;
}
