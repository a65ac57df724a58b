// An object's page: what people want to know first, then YAML, events and owners, all live.

import { buttons, targetOf } from "../actions.js";
import { inNamespace, kubectl } from "../command.js";
import { element, link } from "../element.js";
import { writers } from "../managed_fields.js";
import { address, listOf, objectOf, path } from "../places.js";
import { related } from "../related.js";
import { session } from "../session.js";
import { age, yaml } from "../text.js";
import { ANSWERED, explain, unwell } from "../why.js";
import { t } from "../words.js";

/** Show an object, or its YAML first; returns a function that ends it. */
export function show(root, app, resource, namespace, name, yamlFirst = false) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, t("This cluster has no {resource}.", { resource })));
    return () => {};
  }
  let events = () => {}, uid = "", object = null, managed = false;
  const says = element("p", { class: "problem", role: "alert" });
  const summary = element("dl", { class: "summary" });
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
    element("section", { class: "panel" }, element("h2", {}, t("Summary")), summary),
    ANSWERED.includes(resource) ? element("section", { class: "panel" }, element("h2", {}, t("Why")), why) : null,
    element("section", { class: "panel", hidden: true }, element("h2", {}, t("Related")), kin),
    element("section", { class: "panel" }, element("h2", {}, t("Events")), happened),
    element("section", { class: "panel" }, element("details", { id: "written", ontoggle: () => draw() }, element("summary", {}, t("Who wrote which field, and when")), written)),
    element("section", { class: "panel" }, element("h2", {}, "YAML", element("label", { class: "tick" }, fields, t("managed fields"))), element("button", { "data-key": "y", hidden: true, onclick: () => text.focus() }), text)].filter(Boolean));

  function draw() {
    if (!object) return;
    summary.replaceChildren(...facts(app, object).flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
    const shown = structuredClone(object);
    if (!managed) delete shown.metadata.managedFields;
    text.textContent = yaml(shown);
    if (document.getElementById("written")?.open) written.replaceChildren(...writers(object.metadata.managedFields).map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell)))));
  }

  let offered = "";
  async function offer() {
    // What can be done with a node depends on whether it takes pods.
    const state = `${object.metadata.uid} ${object.spec?.unschedulable}`;
    if (state === offered) return;
    offered = state;
    actions.replaceChildren(...(await buttons(app, kind, namespace, () => [targetOf(kind, namespace, name, object)], { object })));
  }

  const stop = app.stream.subscribe({ op: "object", path: path(kind, namespace), name }, (message) => {
    says.textContent = message.error ? message.error.message : message.gone ? t("It is gone.") : message.lost ? t("connection lost, trying again") : "";
    if (!message.object) return;
    object = message.object;
    draw();
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
  return () => { stop(); events(); };
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

/** Return what people want to know first of an object, as pairs of words and what is shown. */
function facts(app, object) {
  const { metadata, spec = {}, status = {} } = object;
  const pairs = [[t("Created"), `${metadata.creationTimestamp} (${age(metadata.creationTimestamp)})`]];
  if (metadata.deletionTimestamp) pairs.push([t("Being deleted"), t("since {time}; waits for {what}", { time: metadata.deletionTimestamp, what: (metadata.finalizers || []).join(", ") || t("its end") })]);
  if (status.phase) pairs.push([t("Phase"), status.phase]);
  if (typeof spec.replicas === "number") pairs.push([t("Replicas"), t("{ready} ready of {all}", { ready: status.readyReplicas || 0, all: spec.replicas })]);
  if (spec.nodeName) pairs.push([t("Node"), link(objectOf("nodes", "", spec.nodeName), spec.nodeName)]);
  if (status.podIP) pairs.push([t("Address"), status.podIP]);
  for (const container of status.containerStatuses || []) pairs.push([`${t("Container")} ${container.name}`, containerText(container)]);
  for (const condition of status.conditions || []) {
    if (condition.status !== "True" || condition.type.includes("Pressure")) pairs.push([condition.type, `${condition.status}${condition.reason ? ` (${condition.reason})` : ""}${condition.message ? `: ${condition.message}` : ""}`]);
  }
  const labels = Object.entries(metadata.labels || {});
  if (labels.length) pairs.push([t("Labels"), labels.map(([name, value]) => element("code", { class: "label" }, `${name}=${value}`))]);
  return pairs;
}

function containerText(container) {
  const [[what, details]] = Object.entries(container.state || { unknown: {} });
  const last = container.lastState?.terminated;
  return [`${what}${details.reason ? ` (${details.reason})` : ""}${details.message ? `: ${details.message}` : ""}`, t("{count} restarts", { count: container.restartCount }),
    last ? t("last ended with {code}", { code: `${last.exitCode}${last.reason ? ` (${last.reason})` : ""}` }) : null].filter(Boolean).join(", ");
}

const portsOf = (pod) => pod.spec.containers.flatMap((container) => container.ports || []).filter((port) => (port.protocol || "TCP") === "TCP").map((port) => port.containerPort);
