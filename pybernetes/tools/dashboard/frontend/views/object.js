// An object's page: what people want to know first, then YAML, events and owners, all live.

import { buttons, targetOf } from "../actions.js";
import { inNamespace, kubectl } from "../command.js";
import { element, link } from "../element.js";
import { writers } from "../managed_fields.js";
import { address, listOf, objectOf, path } from "../places.js";
import { related, selectorOf } from "../related.js";
import { session } from "../session.js";
import { follow as followTable } from "../short_table.js";
import { contents, containers, facts } from "../summary.js";
import { sorted, yaml } from "../text.js";
import { ANSWERED, explain, unwell } from "../why.js";
import { t } from "../words.js";

/** Show an object, or its YAML first; returns a function that ends it. */
export function show(root, app, resource, namespace, name, yamlFirst = false) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, t("This cluster has no {resource}.", { resource })));
    return () => {};
  }
  let events = () => {}, pods = () => {}, uid = "", chosen = "", object = null, managed = false, columns = [];
  const says = element("p", { class: "problem", role: "alert" });
  const summary = element("dl", { class: "summary" }), inside = element("div", {}), its = element("section", { class: "panel", hidden: true }, element("h2", {}, t("Pods")), element("div", {}));
  const text = element("pre", { class: "yaml", tabindex: "0", role: "region", "aria-label": "YAML" });
  const written = element("table", { class: "written" });
  const happened = element("ul", { class: "events" });
  const kin = element("dl", { class: "summary" });
  const fields = element("input", { type: "checkbox", onchange: (event) => { managed = event.target.checked; draw(); } });
  const question = { resource, name, namespace: kind.namespaced ? namespace : "" };
  const why = element("div", { class: "why" }, element("button", { "data-key": "w", onclick: () => explain(app, question, why) }, t("Why is it as it is?")));
  const actions = element("span", { class: "actions" });
  root.replaceChildren(...[
    element("header", { class: "bar" }, element("h1", {}, `${kind.kind} `, element("b", {}, name)),
      kind.namespaced ? link(listOf(resource, { ns: namespace }), namespace) : null,
      kind.namespaced ? link(address(["map", namespace]), t("Map"), { class: "button", "data-key": "m" }) : resource === "namespaces" ? link(address(["map", name]), t("Map"), { class: "button", "data-key": "m" }) : null,
      resource === "pods" ? link(address(["logs", namespace, name]), t("Logs"), { class: "button", "data-key": "l" }) : null,
      resource === "pods" ? link(address(["trace", namespace, name]), t("Ten steps"), { class: "button", "data-key": "t" }) : null,
      resource === "pods" ? link(address(["shell", namespace, name]), t("Shell"), { class: "button", "data-key": "s" }) : null,
      resource === "pods" && session().onThisMachine ? element("button", { "data-key": "F", onclick: () => object && app.forwards.ask(namespace, name, portsOf(object)) }, t("Forward a port")) : null,
      link(address(["edit", resource, namespace || "-", name]), t("Edit"), { class: "button", "data-key": "e" }),
      actions,
      element("code", { class: "command" }, kubectl("get", `${resource}/${name}`, inNamespace(kind.namespaced && namespace), "-o", "yaml"))),
    says,
    element("section", { class: "panel" }, element("h2", {}, t("Summary")), summary, inside),
    ANSWERED.includes(resource) ? element("section", { class: "panel" }, element("h2", {}, t("Why")), why) : null,
    its,
    element("section", { class: "panel", hidden: true }, element("h2", {}, t("Related")), kin),
    element("section", { class: "panel" }, element("h2", {}, t("Events")), happened),
    element("section", { class: "panel" }, element("details", { id: "written", ontoggle: () => draw() }, element("summary", {}, t("Who wrote which field, and when")), written)),
    element("section", { class: "panel" }, element("h2", {}, "YAML", element("label", { class: "tick" }, fields, t("managed fields"))), element("button", { "data-key": "y", hidden: true, onclick: () => text.focus() }), text)].filter(Boolean));

  function draw() {
    if (!object) return;
    summary.replaceChildren(...facts(object, columns).flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
    const shown = structuredClone(object);
    if (!managed) delete shown.metadata.managedFields;
    text.textContent = yaml(sorted(shown));
    if (document.getElementById("written")?.open) written.replaceChildren(...writers(object.metadata.managedFields).map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell)))));
  }

  /** Draw what is in it; a secret that somebody looks at stays open while nothing of it changes. */
  let drawnInside = "";
  function drawInside() {
    const state = JSON.stringify([object.data, object.binaryData, object.spec, object.status?.containerStatuses, object.status?.initContainerStatuses, object.status?.ephemeralContainerStatuses]);
    if (state === drawnInside) return;
    drawnInside = state;
    inside.replaceChildren(...[resource === "pods" ? containers(object) : contents(object)].filter(Boolean));
  }

  /** Follow the pods that are chosen by it, or run on it. */
  function followPods() {
    const labels = selectorOf(resource, object), fields = resource === "nodes" ? `spec.nodeName=${name}` : "";
    if (`${labels} ${fields}` === chosen || resource === "pods" || !app.kinds.has("pods")) return;
    chosen = `${labels} ${fields}`;
    its.hidden = !(labels || fields);
    pods();
    if (!its.hidden) pods = followTable(app, app.kinds.get("pods"), fields ? "" : namespace, { labels, fields }, its.lastChild);
  }

  let offered = "";
  async function offer() {
    // What can be done with a node depends on whether it takes pods.
    const state = `${object.metadata.uid} ${object.spec?.unschedulable}`;
    if (state === offered) return;
    offered = state;
    actions.replaceChildren(...(await buttons(app, kind, namespace, () => [targetOf(kind, namespace, name, object)], { object })));
  }

  const where = path(kind, encodeURIComponent(namespace));
  const told = app.stream.subscribe({ op: "table", path: where, fields: `metadata.name=${name}` }, (message) => {
    if (message.columns) columns = message.columns.map((column) => [column.name, ""]);
    const row = message.changed?.at(-1);
    if (!row) return;
    columns = columns.map(([column], at) => [column, String(row[5][at] ?? "")]);
    draw();
  });

  const stop = app.stream.subscribe({ op: "object", path: where, name }, (message) => {
    says.textContent = message.error ? message.error.message : message.gone ? (object ? t("It is gone.") : t("There is no {kind} {name}.", { kind: kind.kind, name })) : message.lost ? t("connection lost, trying again") : "";
    // Of what is not there, there is nothing to see or do.
    root.classList.toggle("absent", !object && !message.object);
    if (!message.object) return;
    object = message.object;
    draw();
    drawInside();
    followPods();
    if (yamlFirst && !uid) text.focus();
    offer();
    if (object.metadata.uid !== uid) {
      if (ANSWERED.includes(resource) && unwell(object)) explain(app, question, why);
      uid = object.metadata.uid;
      related(app, resource, object, kin);
      events();
      events = follow(app, object, happened);
    }
  });
  root.classList.add("absent");
  return () => { stop(); told(); events(); pods(); root.classList.remove("absent"); };
}

function follow(app, object, list) {
  const rows = new Map();
  let columns = [];
  const cell = (row, name) => String(row[5][columns.indexOf(name)] ?? "");
  const item = (row) => element("li", { class: cell(row, "Type") === "Warning" ? "warning" : "" },
    element("time", {}, cell(row, "Last Seen")), element("span", {}, element("b", {}, cell(row, "Reason")), ` ${cell(row, "Type")}`), element("p", {}, cell(row, "Message")));
  const kind = app.kinds.get("events");
  if (!kind) return () => {};
  return app.stream.subscribe({ op: "table", path: path(kind, object.metadata.namespace || ""), fields: `involvedObject.uid=${object.metadata.uid}` }, (message) => {
    if (message.reset) rows.clear();
    if (message.columns) columns = message.columns.map((column) => column.name);
    for (const row of message.changed || []) rows.set(row[0], row);
    for (const key of message.removed || []) rows.delete(key);
    const none = element("li", { class: "quiet" }, message.error ? message.error.message : t("None."));
    list.replaceChildren(...(rows.size ? [...rows.values()].reverse().map(item) : [none]));
  });
}

const portsOf = (pod) => pod.spec.containers.flatMap((container) => container.ports || []).filter((port) => (port.protocol || "TCP") === "TCP").map((port) => port.containerPort);
