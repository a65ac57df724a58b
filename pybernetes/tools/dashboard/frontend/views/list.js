// A list of one kind with the server's own columns: live, sorted, filtered, as long as it may be.

import { element } from "../element.js";
import { address, objectOf, path } from "../places.js";
import { age } from "../text.js";
import { VirtualRows } from "../virtual_rows.js";

const [, NAMESPACE, NAME, CREATED, , CELLS] = [0, 1, 2, 3, 4, 5];

/** Show a list; returns a function that ends it. */
export function show(root, app, resource, parameters) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, `This cluster has no ${resource}.`));
    return () => {};
  }
  const rows = new Map();
  let columns = [], sort = parameters.get("sort") || "", complete = false, waiting = 0;
  const namespace = parameters.get("ns") || "";
  const count = element("span", { class: "count", role: "status" });
  const says = element("span", { class: "problem", role: "alert" });
  const filter = element("input", { type: "search", id: "filter", placeholder: "Filter", "aria-label": "Filter rows", value: parameters.get("q") || "", oninput: () => { keep(); later(); } });
  const table = new VirtualRows(draw, (row) => { location.hash = objectOf(resource, row[NAMESPACE], row[NAME]); });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, kind.kind, namespace ? ` in ${namespace}` : ""), filter, count, says,
    element("code", { class: "command" }, `kubectl get ${resource}${kind.namespaced ? (namespace ? ` -n ${namespace}` : " -A") : ""}`)), table.element);

  function keep() {
    history.replaceState(null, "", address(["list", resource], { ns: namespace, q: filter.value, sort }));
  }

  const shown = () => columns.map((column, at) => [column, at]).filter(([column]) => !column.priority);

  function draw(row) {
    const cells = shown().map(([column, at]) => {
      const text = column.name === "Age" ? age(row[CREATED]) : String(row[CELLS][at] ?? "");
      return element("div", { class: `cell ${state(column.name, text)}`, role: "cell", title: text }, text);
    });
    return kind.namespaced ? [element("div", { class: "cell", role: "cell" }, row[NAMESPACE]), ...cells] : cells;
  }

  function head() {
    const names = [...(kind.namespaced ? [["Namespace", -1]] : []), ...shown().map(([column, at]) => [column.name, at])];
    table.columns(
      names.map(([name]) => element("button", {
        class: "cell", "aria-label": `Sort by ${name}`,
        onclick: () => { sort = sort === name ? `-${name}` : name; keep(); head(); later(); },
      }, name, sort === name ? " ▲" : sort === `-${name}` ? " ▼" : "")),
      names.map(([name]) => (/^(Name|Message|Images?|Containers)$/.test(name) ? "minmax(16ch, 3fr)" : "minmax(6ch, 1fr)")).join(" "));
  }

  function value(row, name) {
    if (name === "Namespace") return row[NAMESPACE];
    if (name === "Age") return -Date.parse(row[CREATED]);
    return row[CELLS][columns.findIndex((column) => column.name === name)];
  }

  function update() {
    waiting = 0;
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let list = [...rows.values()];
    if (words.length) list = list.filter((row) => words.every((word) => `${row[NAMESPACE]} ${row[CELLS].join(" ")}`.toLowerCase().includes(word)));
    if (sort) {
      const name = sort.replace(/^-/, ""), sign = sort.startsWith("-") ? -1 : 1;
      const collator = new Intl.Collator("en", { numeric: true });
      list.sort((one, other) => {
        const [left, right] = [value(one, name), value(other, name)];
        return sign * (typeof left === "number" && typeof right === "number" ? left - right : collator.compare(left ?? "", right ?? ""));
      });
    }
    table.set(list);
    count.textContent = `${list.length === rows.size ? "" : `${list.length} of `}${rows.size}${complete ? "" : " …"}`;
  }

  function later() {
    waiting ||= requestAnimationFrame(update);
  }

  const stop = app.stream.subscribe({ op: "table", path: path(kind, namespace), fields: parameters.get("fields") || "", labels: parameters.get("labels") || "" }, (message) => {
    says.textContent = message.error ? message.error.message : message.lost ? "connection lost, trying again" : "";
    if (message.reset) { rows.clear(); complete = false; }
    if (message.columns) { columns = message.columns; head(); }
    for (const row of message.changed || []) rows.set(row[0], row);
    for (const key of message.removed || []) rows.delete(key);
    if (message.complete) complete = true;
    later();
  });
  // Ages go on by themselves: once in a while is enough.
  const ticking = setInterval(() => document.hidden || table.later(), 10_000);
  table.body.focus();
  return () => { stop(); clearInterval(ticking); };
}

/** Return the class of a cell that tells how something is. */
export function state(column, text) {
  if (!/^(Status|Ready|Phase|Type)$/.test(column)) return "";
  if (/^(Running|Active|Bound|Ready|True|Succeeded|Completed)$/.test(text)) return "good";
  if (/(Error|BackOff|Failed|Evicted|NotReady|Warning|OOMKilled|Lost|Unknown|Invalid)/.test(text)) return "bad";
  if (/^(Pending|ContainerCreating|Terminating|PodInitializing|Init)/.test(text)) return "wait";
  const parts = /^(\d+)\/(\d+)$/.exec(text);
  return parts ? (parts[1] === parts[2] ? "good" : "wait") : "";
}
