// An object's page: what people want to know first, then YAML, events and owners, all live.

import { element, link } from "../element.js";
import { address, listOf, objectOf, path } from "../places.js";
import { age, yaml } from "../text.js";

/** Show an object; returns a function that ends it. */
export function show(root, app, resource, namespace, name) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, `This cluster has no ${resource}.`));
    return () => {};
  }
  let events = () => {}, uid = "", object = null, managed = false;
  const says = element("p", { class: "problem", role: "alert" });
  const summary = element("dl", { class: "summary" });
  const text = element("pre", { class: "yaml", tabindex: "0" });
  const happened = element("ul", { class: "events" });
  const fields = element("input", { type: "checkbox", onchange: (event) => { managed = event.target.checked; draw(); } });
  const scope = kind.namespaced ? ` -n ${namespace}` : "";
  root.replaceChildren(
    element("header", { class: "bar" }, element("h1", {}, `${kind.kind} `, element("b", {}, name)),
      kind.namespaced ? link(listOf(resource, { ns: namespace }), namespace) : null,
      resource === "pods" ? link(address(["logs", namespace, name]), "Logs", { class: "button", "data-key": "l" }) : null,
      link(address(["edit", resource, namespace || "-", name]), "Edit", { class: "button", "data-key": "e" }),
      element("code", { class: "command" }, `kubectl get ${resource}/${name}${scope} -o yaml`)),
    says,
    element("section", {}, element("h2", {}, "Summary"), summary),
    element("section", {}, element("h2", {}, "Events"), happened),
    element("section", {}, element("h2", {}, "YAML"), element("label", {}, fields, " managed fields"), text));

  function draw() {
    if (!object) return;
    summary.replaceChildren(...facts(app, object).flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
    const shown = structuredClone(object);
    if (!managed) delete shown.metadata.managedFields;
    text.textContent = yaml(shown);
  }

  const stop = app.stream.subscribe({ op: "object", path: path(kind, namespace), name }, (message) => {
    says.textContent = message.error ? message.error.message : message.gone ? "It is gone." : message.lost ? "connection lost, trying again" : "";
    if (!message.object) return;
    object = message.object;
    draw();
    if (object.metadata.uid !== uid) {
      uid = object.metadata.uid;
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
  const item = (row) => element("li", { class: cell(row, "Type") === "Warning" ? "bad" : "" },
    `${cell(row, "Last Seen")} ${cell(row, "Type")} ${cell(row, "Reason")}`, element("p", {}, cell(row, "Message")));
  const kind = app.kinds.get("events");
  if (!kind) return () => {};
  return app.stream.subscribe({ op: "table", path: path(kind, object.metadata.namespace || ""), fields: `involvedObject.uid=${object.metadata.uid}` }, (message) => {
    if (message.reset) rows.clear();
    if (message.columns) columns = message.columns.map((column) => column.name);
    for (const row of message.changed || []) rows.set(row[0], row);
    for (const key of message.removed || []) rows.delete(key);
    const none = element("li", { class: "quiet" }, message.error ? message.error.message : "None.");
    list.replaceChildren(...(rows.size ? [...rows.values()].reverse().map(item) : [none]));
  });
}

/** Return what people want to know first of an object, as pairs of words and what is shown. */
function facts(app, object) {
  const { metadata, spec = {}, status = {} } = object;
  const pairs = [["Created", `${metadata.creationTimestamp} (${age(metadata.creationTimestamp)})`]];
  if (metadata.deletionTimestamp) pairs.push(["Being deleted", `since ${metadata.deletionTimestamp}; waits for ${(metadata.finalizers || []).join(", ") || "its end"}`]);
  if (status.phase) pairs.push(["Phase", status.phase]);
  if (typeof spec.replicas === "number") pairs.push(["Replicas", `${status.readyReplicas || 0} ready of ${spec.replicas}`]);
  if (spec.nodeName) pairs.push(["Node", link(objectOf("nodes", "", spec.nodeName), spec.nodeName)]);
  if (status.podIP) pairs.push(["Address", status.podIP]);
  for (const container of status.containerStatuses || []) pairs.push([`Container ${container.name}`, containerText(container)]);
  for (const condition of status.conditions || []) {
    if (condition.status !== "True" || condition.type.includes("Pressure")) pairs.push([condition.type, `${condition.status}${condition.reason ? ` (${condition.reason})` : ""}${condition.message ? `: ${condition.message}` : ""}`]);
  }
  for (const owner of metadata.ownerReferences || []) pairs.push(["Owner", ownerLink(app, owner, metadata.namespace)]);
  const labels = Object.entries(metadata.labels || {});
  if (labels.length) pairs.push(["Labels", labels.map(([name, value]) => element("code", { class: "label" }, `${name}=${value}`))]);
  return pairs;
}

function containerText(container) {
  const [[what, details]] = Object.entries(container.state || { unknown: {} });
  const last = container.lastState?.terminated;
  return [`${what}${details.reason ? ` (${details.reason})` : ""}${details.message ? `: ${details.message}` : ""}`, `${container.restartCount} restarts`,
    last ? `last ended with ${last.exitCode}${last.reason ? ` (${last.reason})` : ""}` : null].filter(Boolean).join(", ");
}

function ownerLink(app, owner, namespace) {
  const group = owner.apiVersion.includes("/") ? owner.apiVersion.split("/")[0] : "";
  const kind = [...app.kinds.values()].find((candidate) => candidate.kind === owner.kind && candidate.group === group);
  return kind ? link(objectOf(kind.resource, kind.namespaced ? namespace : "", owner.name), `${owner.kind} ${owner.name}`) : `${owner.kind} ${owner.name}`;
}
