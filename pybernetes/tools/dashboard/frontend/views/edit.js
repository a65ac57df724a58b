// An object as YAML to be changed: the server says what would become of it before anything is saved.

import { inNamespace, kubectl } from "../command.js";
import { drawn } from "../diff.js";
import { element } from "../element.js";
import { merged } from "../merge.js";
import { objectOf, path } from "../places.js";
import { describe, pathAt, schemaOf, typeOf } from "../schema_help.js";
import { sorted, yaml } from "../text.js";
import { t } from "../words.js";

const CONFLICT = 409;
const OPTIONS = "fieldManager=pyb-dashboard&fieldValidation=Strict";

/** Show the editor; returns a function that ends it. */
export function show(root, app, resource, namespace, name) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, t("This cluster has no {resource}.", { resource })));
    return () => {};
  }
  const where = `${path(kind, encodeURIComponent(namespace))}/${encodeURIComponent(name)}`;
  let before = "", checked = null;
  const text = element("textarea", { class: "yaml", id: "yaml", spellcheck: "false", "aria-label": "YAML", oninput: () => { unchecked(); help(); }, onkeyup: () => help(), onclick: () => help(), onfocus: () => help() });
  const note = element("p", { class: "wait", role: "status" });
  const about = element("aside", { class: "about", "aria-live": "polite" });
  const says = element("p", { class: "problem", role: "alert" });
  const changes = element("pre", { class: "yaml", id: "changes", role: "status" });
  const save = element("button", { id: "save", disabled: true, onclick: () => attempt(store) }, t("Save"));
  root.replaceChildren(
    element("header", { class: "bar" }, element("h1", {}, `${t("Edit")} ${kind.kind} `, element("b", {}, name)),
      element("button", { id: "check", onclick: () => attempt(check) }, t("Show what changes")), save,
      element("code", { class: "command" }, kubectl("edit", `${resource}/${name}`, inNamespace(namespace)))),
    says, note, element("div", { class: "editor" }, text, about), changes);

  const shown = (object) => {
    const copy = structuredClone(object);
    delete copy.metadata.managedFields;
    return yaml(sorted(copy));
  };

  function unchecked() {
    checked = null;
    save.disabled = true;
  }

  async function attempt(action, again = false) {
    says.textContent = note.textContent = "";
    try {
      await action();
    } catch (error) {
      unchecked();
      if (error.status === CONFLICT && !again) return together();
      changes.replaceChildren();
      says.textContent = error.message;
    }
  }

  /** Take in what others have changed meanwhile, be it only the status, and show what is to be saved now. */
  function together() {
    return attempt(async () => {
      const now = shown(await app.call("GET", where));
      const { text: both, clashes } = merged(before, text.value, now);
      text.value = both;
      before = now;
      await check();
      note.textContent = clashes ? t("Others have changed the same at {count} places: there it is as you have it. See what changes.", { count: clashes }) : t("It has changed meanwhile; your changes are on top of that.");
    }, true);
  }

  const put = (more) => app.call("PUT", `${where}?${OPTIONS}${more}`, text.value, "application/yaml");

  async function check() {
    const sent = text.value;
    const after = shown(await put("&dryRun=All"));
    const lines = drawn(before, after);
    changes.replaceChildren(...(lines.length ? lines : [t("Nothing would change.")]));
    changes.scrollIntoView({ block: "nearest" });
    checked = sent;
    save.disabled = text.value !== sent;
  }

  async function store() {
    if (text.value !== checked) return; // what is saved is what was shown
    await put("");
    location.hash = objectOf(resource, namespace, name);
  }

  let schema = null;
  schemaOf(app, kind).then((found) => { schema = found; help(); });

  /** Say what the field at the cursor is, and what else its object may have. */
  function help() {
    if (!schema) return;
    const line = text.value.slice(0, text.selectionStart).split("\n").length - 1;
    const names = pathAt(text.value, line);
    const { here, parent } = describe(schema, names);
    const fields = Object.entries((here?.properties ? here : here?.items ? describe(schema, names).here.items : parent)?.properties || parent?.properties || {});
    about.replaceChildren(element("b", {}, names.join(".") || kind.kind), here ? element("p", {}, `${typeOf(here, schema.schemas)} ${here.description || ""}`) : element("p", { class: "bad" }, names.length ? t("The schema has no such field.") : ""),
      element("ul", {}, fields.slice(0, 60).map(([name, own]) => element("li", { title: own.description || "" }, element("code", {}, name), ` ${typeOf(own, schema.schemas)}${parent?.required?.includes(name) ? ` (${t("required")})` : ""}`))));
  }

  attempt(async () => {
    before = shown(await app.call("GET", where));
    text.value = before;
    text.focus();
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
    help();
  });
  return () => {};
}
