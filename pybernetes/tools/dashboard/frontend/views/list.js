// A list of one kind with the server's own columns: live, sorted, filtered, as long as it may be.

import { buttons, targetOf } from "../actions.js";
import { inNamespace, kubectl } from "../command.js";
import { element, link } from "../element.js";
import { address, listOf, objectOf, path } from "../places.js";
import { state } from "../states.js";
import { age } from "../text.js";
import { VirtualRows } from "../virtual_rows.js";
import { t } from "../words.js";
import { many } from "./kinds.js";

const [KEY, NAMESPACE, NAME, CREATED, CELLS] = [0, 1, 2, 3, 5];

/** Show a list; returns a function that ends it. */
export function show(root, app, resource, parameters) {
  const kind = app.kinds.get(resource);
  if (!kind) {
    root.replaceChildren(element("p", { class: "problem" }, t("This cluster has no {resource}.", { resource })));
    return () => {};
  }
  const rows = new Map();
  let columns = [], sort = parameters.get("sort") || "", wide = Boolean(parameters.get("wide")), complete = false, waiting = 0;
  const namespace = parameters.get("ns") || "", labels = parameters.get("labels") || "", fields = parameters.get("fields") || "";
  const count = element("span", { class: "count", role: "status" });
  const says = element("span", { class: "problem", role: "alert" });
  const filter = element("input", { type: "search", id: "filter", placeholder: t("Filter"), "aria-label": t("Filter rows"), value: parameters.get("q") || "", oninput: () => { keep(); later(); } });
  const go = (row, view = "object") => { location.hash = address([view, resource, row[NAMESPACE] || "-", row[NAME]]); };
  const table = new VirtualRows({
    label: many(kind), draw, open: (row) => go(row), key: (row) => row[KEY], picked: () => pick(),
    keys: {
      d: (row) => go(row), y: (row) => go(row, "yaml"), e: (row) => go(row, "edit"),
      ...(resource === "pods" && Object.fromEntries([["l", "logs"], ["s", "shell"]].map(([key, view]) => [key, (row) => { location.hash = address([view, row[NAMESPACE], row[NAME]]); }]))),
    },
  });
  const actions = element("span", { class: "actions" });
  const chosen = kind.namespaced ? app.namespaces.choice(namespace, (ns) => { location.hash = listOf(resource, { ns, labels, fields, q: filter.value, sort, wide: wide && "1" }); }) : null;
  const more = element("label", { class: "tick", hidden: true }, element("input", { type: "checkbox", "data-key": "W", checked: wide, onchange: (event) => { wide = event.target.checked; keep(); head(); later(); tell(); } }), t("all columns"));
  const narrowed = [labels, fields].filter(Boolean).join(", ");
  const command = element("code", { class: "command" });
  const tell = () => { command.textContent = kubectl("get", resource, kind.namespaced && (namespace ? inNamespace(namespace) : "-A"), labels && ["-l", labels], fields && ["--field-selector", fields], wide && ["-o", "wide"]); };
  tell();
  const empty = element("p", { class: "empty", role: "status" }, t("still reading"));
  table.body.append(empty);
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, many(kind), namespace ? element("span", { class: "unseen" }, ` ${t("in {namespace}", { namespace })}`) : ""), chosen, filter,
    narrowed ? link(listOf(resource, { ns: namespace, q: filter.value, sort }), [element("code", {}, narrowed), " ×"], { class: "button", "aria-label": t("without {selector}", { selector: narrowed }) }) : null, count, more, says, actions, command), table.element);

  // What is picked, or else the chosen row, is what actions are done to.
  const targets = () => table.picks().filter(Boolean).map((row) => targetOf(kind, row[NAMESPACE], row[NAME]));
  const offering = buttons(app, kind, namespace, targets, { many: true });

  async function pick() {
    const number = table.selected.size;
    const offered = await offering;
    actions.replaceChildren(...(number ? [t("{count} selected", { count: number }), ...offered,
      ...(resource === "pods" ? [element("button", { "data-key": "l", onclick: () => logs() }, t("Logs"))] : [])] : []));
  }

  // A key of an action selects the chosen row first: what it is done to is seen.
  offering.then((offered) => {
    for (const button of offered.filter((one) => one.dataset.key)) table.keys[button.dataset.key] ??= (row) => { if (!button.disabled) { table.toggle(row); button.click(); } };
  });

  function logs() {
    const rows = table.picks();
    location.hash = address(["logs", rows[0][NAMESPACE], rows.filter((row) => row[NAMESPACE] === rows[0][NAMESPACE]).map((row) => row[NAME]).join(",")]);
  }

  function keep() {
    history.replaceState(null, "", address(["list", resource], { ns: namespace, labels, fields, q: filter.value, sort, wide: wide && "1" }));
  }

  const shown = () => columns.map((column, at) => [column, at]).filter(([column]) => wide || !column.priority);

  function draw(row) {
    const cells = shown().map(([column, at]) => {
      const text = column.name === "Age" ? age(row[CREATED]) : String(row[CELLS][at] ?? "");
      // A link, so that it can be opened in a tab of its own.
      const shown = column.name === "Name" ? link(objectOf(resource, row[NAMESPACE], row[NAME]), text, { tabindex: "-1" }) : text;
      return element("div", { class: `cell ${state(column.name, text)}`, role: "gridcell", title: text }, shown);
    });
    return kind.namespaced && !namespace ? [element("div", { class: "cell", role: "gridcell" }, row[NAMESPACE]), ...cells] : cells;
  }

  function head() {
    more.hidden = !columns.some((column) => column.priority);
    const names = [...(kind.namespaced && !namespace ? [["Namespace", -1]] : []), ...shown().map(([column, at]) => [column.name, at])];
    table.columns(
      names.map(([name]) => element("div", { role: "columnheader", "aria-sort": sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none" }, element("button", {
        class: "cell", title: t("Sort by {name}", { name }), "data-column": name,
        onclick: () => { sort = sort === name ? `-${name}` : name; keep(); head(); later(); table.head.querySelector(`[data-column="${CSS.escape(name)}"]`).focus(); },
      }, name, sort === name ? " ▲" : sort === `-${name}` ? " ▼" : ""))),
      names.map(([name]) => (/^(Name|Message|Images?|Containers)$/.test(name) ? "minmax(20ch, 3fr)" : name === "Namespace" ? "minmax(13ch, 1.2fr)" : /^(Status|Reason|Object|Node)$/.test(name) ? "minmax(19ch, 1.4fr)" : /IP/.test(name) ? "minmax(14ch, 1fr)" : "minmax(7ch, 1fr)")).join(" "));
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
    empty.hidden = Boolean(list.length);
    empty.textContent = !complete ? t("still reading") : rows.size ? t("Nothing fits the filter.") : namespace ? t("There are no {kinds} in {namespace}.", { kinds: many(kind), namespace }) : t("There are no {kinds}.", { kinds: many(kind) });
    count.textContent = `${list.length === rows.size ? "" : `${list.length} ${t("of")} `}${rows.size}${complete ? "" : " …"}`;
  }

  function later() {
    waiting ||= requestAnimationFrame(update);
  }

  const stop = app.stream.subscribe({ op: "table", path: path(kind, encodeURIComponent(namespace)), fields, labels }, (message) => {
    // Who may not see all namespaces has one of his own to see.
    if (message.error?.code === 403 && kind.namespaced && !namespace) {
      location.replace(listOf(resource, { ns: app.namespace || "default", labels, fields, q: filter.value, sort }));
      return;
    }
    says.textContent = message.error ? message.error.message : message.lost ? t("connection lost, trying again") : "";
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
