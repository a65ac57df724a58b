// The cluster: nodes with what is used against what is asked for, the control plane's health, quotas, and events as they come.

import { kubectl } from "../command.js";
import { element, link } from "../element.js";
import { listOf, objectOf } from "../places.js";
import { amount } from "../text.js";
import { t } from "../words.js";

const MOST_EVENTS = 100, BUCKETS = 60, MINUTE = 60_000;

/** Show the cluster; returns a function that ends it. */
export function show(root, app) {
  let nodes = [], usage = null, ready = false;
  const health = element("section", {}), list = element("div", { class: "nodes" }), total = element("p", { class: "quiet", role: "status" });
  const quotas = element("section", { hidden: true });
  const timeline = element("section", {});
  root.replaceChildren(
    element("header", { class: "bar" }, element("h1", {}, t("Cluster")), element("code", { class: "command" }, `${kubectl("top", "nodes")}; ${kubectl("get", "--raw", "/readyz?verbose")}`)),
    health, element("h2", {}, t("Nodes")), total, list, quotas, element("h2", {}, t("Events of the last hour")), timeline);

  function draw() {
    const sum = (read) => nodes.reduce((all, node) => all + (read(node) || 0), 0);
    total.textContent = !ready ? t("still reading the cluster") : t("{nodes} nodes, {pods} pods; CPU {cpu} of {allCpu}, memory {memory} of {allMemory} asked for", {
      nodes: nodes.length, pods: sum((node) => node.load.pods), cpu: amount.cpu(sum((node) => node.load.cpu)), allCpu: amount.cpu(sum((node) => node.cpu)),
      memory: amount.bytes(sum((node) => node.load.memory)), allMemory: amount.bytes(sum((node) => node.memory)),
    });
    // Those that need somebody's eye first; beyond some hundreds nobody reads on.
    const order = [...nodes].sort((one, other) => one.ready - other.ready || other.problems.length - one.problems.length || other.load.cpu / (other.cpu || 1) - one.load.cpu / (one.cpu || 1));
    list.replaceChildren(...order.slice(0, 300).map(card));
    if (order.length > 300) list.append(link(listOf("nodes"), t("{count} more", { count: order.length - 300 })));
  }

  function card(node) {
    const used = usage?.[node.name];
    return element("article", { class: "node" },
      element("h3", {}, link(objectOf("nodes", "", node.name), node.name), " ", element("span", { class: node.ready ? "good" : "bad" }, node.ready ? t("ready") : t("not ready")),
        node.unschedulable ? element("span", { class: "wait" }, ` ${t("takes no new pods")}`) : null, element("small", { class: "quiet" }, ` ${[...node.roles, node.version].join(" ")}`)),
      ...node.problems.map((problem) => element("p", { class: "bad" }, problem)),
      bar("CPU", amount.cpu, node.cpu, node.load.cpu, node.load.cpu_limit, used?.cpu),
      bar(t("Memory"), amount.bytes, node.memory, node.load.memory, node.load.memory_limit, used?.memory),
      bar(t("Pods"), String, node.pods, node.load.pods));
  }

  const stop = app.stream.subscribe({ op: "cluster" }, (message) => {
    if (message.error) health.replaceChildren(element("p", { class: "problem" }, message.error.message));
    if (message.nodes) ({ nodes, ready } = message);
    if ("usage" in message) ({ usage } = message);
    if (message.health) drawHealth(health, message);
    draw();
  });
  drawQuotas(app, quotas);
  const events = follow(app, timeline);
  return () => { stop(); events(); };
}

/** Draw what is asked for, allowed at most and used, against what there is. */
function bar(name, text, all, asked, limit, used) {
  const part = (value) => `${Math.min(100, (100 * value) / (all || 1))}%`;
  const stripe = (kind, value) => { const made = element("i", { class: kind }); made.style.width = part(value); return made; };
  const words = [limit === undefined ? `${asked} / ${all}` : t("{asked} of {all} asked for", { asked: text(asked), all: text(all) }), limit ? t("limits {limit}", { limit: text(limit) }) : null, used === undefined ? null : t("{used} used", { used: text(used) })].filter(Boolean).join(", ");
  return element("div", { class: "gauge", role: "img", "aria-label": `${name}: ${words}`, title: words },
    element("span", {}, name), element("span", { class: "track" }, stripe("asked", asked), used === undefined ? null : stripe("used", used)), element("small", {}, words));
}

function drawHealth(root, { health, leaders }) {
  const bad = health.checks.filter(([, ok]) => !ok).map(([name]) => name);
  root.replaceChildren(element("h2", {}, t("Control plane")),
    element("p", { class: health.ok ? "good" : "bad", title: health.checks.map(([name, ok]) => `${ok ? "+" : "-"} ${name}`).join("\n") },
      health.ok ? t("ready: {count} checks passed", { count: health.checks.length }) : `${t("not ready")}: ${bad.join(", ") || health.message}`),
    ...leaders.map((lease) => element("p", {}, `${lease.name}: `, element("code", {}, lease.holder || t("nobody leads")))));
}

async function drawQuotas(app, root) {
  let items = [];
  try {
    ({ items } = await app.call("GET", "/api/v1/resourcequotas"));
  } catch { /* who may not list them sees none */ }
  if (!items.length) return;
  root.hidden = false;
  root.replaceChildren(element("h2", {}, t("Quotas")), ...items.map((quota) => element("p", {}, link(objectOf("resourcequotas", quota.metadata.namespace, quota.metadata.name), `${quota.metadata.namespace}/${quota.metadata.name}`),
    ` ${Object.entries(quota.status?.hard || {}).map(([name, hard]) => `${name} ${quota.status.used?.[name] ?? 0}/${hard}`).join(", ")}`)));
}

/** Follow events: how many in each minute, and the newest in words. */
function follow(app, root) {
  const rows = new Map();
  let columns = [], waiting = 0;
  const cell = (row, name) => String(row[5][columns.indexOf(name)] ?? "");
  function draw() {
    waiting = 0;
    const now = Date.now(), newest = [...rows.values()].sort((one, other) => Date.parse(other[3]) - Date.parse(one[3]));
    const counts = Array.from({ length: BUCKETS }, () => [0, 0]);
    for (const row of newest) {
      const at = BUCKETS - 1 - Math.floor((now - Date.parse(row[3])) / MINUTE);
      if (at >= 0 && at < BUCKETS) counts[at][cell(row, "Type") === "Warning" ? 1 : 0]++;
    }
    const items = newest.slice(0, MOST_EVENTS).map((row) => element("li", { class: cell(row, "Type") === "Warning" ? "bad" : "" }, `${row[3].slice(11, 19)} ${row[1]} ${cell(row, "Object")} ${cell(row, "Reason")}`, element("p", {}, cell(row, "Message"))));
    root.replaceChildren(chart(counts), element("ul", { class: "events" }, items.length ? items : element("li", { class: "quiet" }, t("None."))));
  }
  return app.stream.subscribe({ op: "table", path: "/api/v1/events" }, (message) => {
    if (message.reset) rows.clear();
    if (message.columns) columns = message.columns.map((column) => column.name);
    for (const row of message.changed || []) rows.set(row[0], row);
    for (const key of message.removed || []) rows.delete(key);
    if (message.error) root.replaceChildren(element("p", { class: "problem" }, message.error.message));
    else waiting ||= requestAnimationFrame(draw);
  });
}

function chart(counts) {
  const most = Math.max(1, ...counts.map(([normal, warning]) => normal + warning));
  return element("div", { class: "chart", role: "img", "aria-label": t("Events for each minute; most: {most}", { most }) }, counts.map(([normal, warning]) => {
    const column = element("span", { title: `${normal + warning}` }, element("i", { class: "warning" }), element("i", { class: "normal" }));
    column.children[0].style.height = `${(60 * warning) / most}px`;
    column.children[1].style.height = `${(60 * normal) / most}px`;
    return column;
  }));
}
