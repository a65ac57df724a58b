// What is typed behind a colon: a kind by any of its names, or a view; and the keys, as help.

import { element } from "./element.js";
import { address, listOf, place } from "./places.js";
import { meant } from "./views/kinds.js";
import { t } from "./words.js";

const VIEWS = { federation: () => address(["federation"]), "can-i": (app, namespace) => address(["access", namespace || app.namespace || "default"]), cluster: () => address(["cluster"]), clusters: () => address(["clusters"]), ctx: () => address(["clusters"]), map: (app, namespace) => address(["map", namespace || app.namespace || "default"]) };

/** Return the place that words mean, such as "po", "deploy shop", "map shop"; empty if they mean nothing. */
export function destination(app, text) {
  const [word, namespace] = text.trim().toLowerCase().split(/\s+/);
  if (!word) return "";
  if (Object.hasOwn(VIEWS, word)) return VIEWS[word](app, namespace);
  if (word === "ns" && namespace) return listOf(place().parts[1] || "pods", { ns: namespace });
  const kind = meant(app, word);
  return kind ? listOf(kind.resource, kind.namespaced ? { ns: namespace } : {}) : "";
}

/** Ask for a kind or a view, and go there. */
export function ask(app) {
  const names = [...Object.keys(VIEWS), ...[...app.kinds.values()].flatMap((kind) => [kind.resource, ...kind.shortNames])];
  const input = element("input", { id: "palette", list: "kinds", autocomplete: "off", "aria-label": t("Kind"), placeholder: t("Kind, and perhaps a namespace") });
  const says = element("p", { class: "problem", role: "alert" });
  const dialog = open(t("Kind"), element("form", { method: "dialog", onsubmit: go }, input, element("datalist", { id: "kinds" }, names.map((name) => element("option", { value: name })))), says);

  function go(event) {
    event.preventDefault();
    const to = destination(app, input.value);
    if (!to) { says.textContent = t("This cluster has no {resource}.", { resource: input.value }); return; }
    dialog.close();
    location.hash = to;
  }
}

/** Show the keys. */
export function help() {
  const keys = [["/", t("Search everything")], [":", t("Kind, and perhaps a namespace")], ["f", t("Filter rows")], ["n", t("Namespace")], ["W", t("all columns")], ["j k ↓ ↑", t("next and previous row")], ["Enter d", t("open")], ["y", "YAML"], ["e", t("Edit")], ["l", t("Logs")], ["s", `${t("Shell")}, ${t("Scale")}`],
    ["Space *", t("select one row, all rows")], ["t", t("Ten steps")], ["w", t("Why")], ["m M", t("Map")], ["C", t("Cluster")], ["F", t("Forward a port")], ["r", `${t("Restart")}, ${t("Drain")}`], ["z", t("Roll back")], ["D", t("Debug")], ["c u", `${t("Cordon")}, ${t("Uncordon")}`], ["Delete", t("Delete")], ["K", t("copy the kubectl command")], ["Escape", t("back")], ["Ctrl+F6", t("out of the terminal")], ["?", t("Keys")]];
  open(t("Keys"), element("dl", { class: "summary keys-help" }, keys.flatMap(([key, what]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, what)])));
}

function open(title, ...children) {
  const dialog = element("dialog", { "aria-label": title, onclose: () => dialog.remove() }, element("h1", {}, title), ...children);
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
