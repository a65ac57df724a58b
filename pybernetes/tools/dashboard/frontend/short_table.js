// A short list within another page, with the server's own columns, followed.

import { element, link } from "./element.js";
import { listOf, objectOf, path } from "./places.js";
import { state } from "./states.js";
import { age } from "./text.js";
import { t } from "./words.js";

const MOST = 25, NOT_HERE = /^(Nominated Node|Readiness Gates|Containers|Images|Selector)$/;

/** Fill an element with objects of a kind that selectors choose; returns a function that ends it. */
export function follow(app, kind, namespace, { labels = "", fields = "" }, root) {
  const rows = new Map();
  let columns = [], waiting = 0;

  function draw() {
    waiting = 0;
    const shown = columns.map((name, at) => [name, at]).filter(([name]) => !NOT_HERE.test(name));
    const all = [...rows.values()];
    const cell = (row, [name, at]) => {
      const text = name === "Age" ? age(row[3]) : String(row[5][at] ?? "");
      return element("td", { class: state(name, text), title: text }, name === "Name" ? link(objectOf(kind.resource, row[1], row[2]), text) : text);
    };
    root.replaceChildren(all.length ? element("div", { class: "scrolled" }, element("table", { class: "matrix" },
      element("thead", {}, element("tr", {}, shown.map(([name]) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, all.slice(0, MOST).map((row) => element("tr", {}, shown.map((column) => cell(row, column))))))) : element("p", { class: "quiet" }, t("None.")),
    element("p", {}, link(listOf(kind.resource, { ns: namespace, labels, fields }), all.length > MOST ? t("{count} more", { count: all.length - MOST }) : t("as a list"))));
  }

  const stop = app.stream.subscribe({ op: "table", path: path(kind, encodeURIComponent(namespace)), labels, fields }, (message) => {
    if (message.error) { root.replaceChildren(element("p", { class: "problem" }, message.error.message)); return; }
    if (message.reset) rows.clear();
    if (message.columns) columns = message.columns.map((column) => column.name);
    for (const row of message.changed || []) rows.set(row[0], row);
    for (const key of message.removed || []) rows.delete(key);
    waiting ||= requestAnimationFrame(draw);
  });
  return () => { stop(); cancelAnimationFrame(waiting); };
}
