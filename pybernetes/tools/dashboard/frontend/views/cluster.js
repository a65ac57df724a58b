// The cluster: nodes with what is used against what is asked for, the control plane's health, quotas, and events as they come.

import { kubectl } from "../command.js";
import { element, link } from "../element.js";
import { listOf, objectOf } from "../places.js";
import { session } from "../session.js";
import { amount, quantity } from "../text.js";
import { t } from "../words.js";

const MOST_EVENTS = 100, BUCKETS = 60, MINUTE = 60_000;

/** Show the cluster; returns a function that ends it. */
export function show(root, app) {
  let nodes = [], usage = null, ready = false;
  const health = element("div", {}, element("p", { class: "quiet" }, t("still reading the cluster"))), plane = element("div", {});
  const list = element("div", {}), total = element("p", { class: "quiet", role: "status" });
  const quotas = element("section", { class: "panel", hidden: true });
  const timeline = element("div", {});
  root.replaceChildren(
    element("header", { class: "bar" }, element("h1", {}, t("Cluster"), " ", element("b", {}, session().context)), element("code", { class: "command" }, `${kubectl("top", "nodes")}; ${kubectl("get", "--raw", "/readyz?verbose")}`)),
    element("section", { class: "panel" }, element("h2", {}, t("Control plane")), health, plane),
    element("section", { class: "panel" }, element("h2", {}, t("Nodes")), total, list), quotas,
    element("section", { class: "panel" }, element("h2", {}, t("Events of the last hour")), timeline));

  function draw() {
    const sum = (read) => nodes.reduce((all, node) => all + (read(node) || 0), 0);
    total.textContent = !ready ? t("still reading the cluster") : t("Nodes: {nodes}, pods: {pods}; CPU {cpu} of {allCpu}, memory {memory} of {allMemory} asked for", {
      nodes: nodes.length, pods: sum((node) => node.load.pods), cpu: amount.cpu(sum((node) => node.load.cpu)), allCpu: amount.cpu(sum((node) => node.cpu)),
      memory: amount.bytes(sum((node) => node.load.memory)), allMemory: amount.bytes(sum((node) => node.memory)),
    });
    // Those that need somebody's eye first; beyond some hundreds nobody reads on.
    const order = [...nodes].sort((one, other) => one.ready - other.ready || other.problems.length - one.problems.length || other.load.cpu / (other.cpu || 1) - one.load.cpu / (one.cpu || 1));
    const seen = order.slice(0, 300), groups = new Map();
    for (const node of seen) groups.set(node.group, [...(groups.get(node.group) || []), node]);
    const named = groups.size > 1 || !groups.has("");
    list.replaceChildren(...[...groups].sort(([one], [other]) => one.localeCompare(other)).flatMap(([group, own]) => [
      ...(named ? [element("h3", { class: "group" }, group || t("without a group"), element("small", { class: "quiet" }, ` ${t("{ready} ready of {all}", { ready: own.filter((node) => node.ready).length, all: own.length })}`))] : []),
      element("div", { class: "nodes" }, own.map(card))]));
    if (order.length > 300) list.append(link(listOf("nodes"), t("{count} more", { count: order.length - 300 })));
  }

  function card(node) {
    const used = usage?.[node.name];
    return element("article", { class: "node" },
      element("h3", {}, link(objectOf("nodes", "", node.name), node.name), element("span", { class: `pill ${node.ready ? "good" : "bad"}` }, node.ready ? t("ready") : t("not ready")),
        node.unschedulable ? element("span", { class: "pill wait" }, t("takes no new pods")) : null, element("small", { class: "quiet" }, [...node.roles, node.zone, node.version].filter(Boolean).join(" · "))),
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
  const levels = app.stream.subscribe({ op: "control_plane" }, (message) => { if (message.components) drawPlane(plane, message); });
  drawQuotas(app, quotas);
  const events = follow(app, timeline);
  return () => { stop(); levels(); events(); };
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
  root.replaceChildren(
    element("p", { class: health.ok ? "good" : "bad", title: health.checks.map(([name, ok]) => `${ok ? "+" : "-"} ${name}`).join("\n") },
      health.ok ? t("ready: {count} checks passed", { count: health.checks.length }) : `${t("not ready")}: ${bad.join(", ") || health.message}`),
    element("dl", { class: "summary" }, leaders.flatMap((lease) => [element("dt", {}, t("{name} leads by", { name: lease.name })), element("dd", {}, element("code", {}, lease.holder || t("nobody leads")))])));
}

// The indicators of an API server, by the names that tools/slo has for them.
const LEVELS = () => ({
  "API calls that change objects, 99 %": t("API calls that change objects, 99 %"),
  "API calls that read one object, 99 %": t("API calls that read one object, 99 %"),
  "API calls that read a namespace or a cluster, 99 %": t("API calls that read a namespace or a cluster, 99 %"),
});

/** Draw the components, the members of etcd among them, and how fast the API server is against what is expected. */
function drawPlane(root, { components, levels, availability }) {
  const time = (seconds) => (seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`);
  const tile = (label, value, good, more) => element("div", { class: `tile ${good ? "" : "bad"}`, title: more || "" }, element("b", {}, value), element("span", {}, label));
  root.replaceChildren(
    element("div", { class: "tiles" },
      availability === null ? null : tile(t("checks passed since its start"), `${(availability * 100).toFixed(availability < 1 ? 1 : 0)} %`, true),
      levels.indicators.map((one) => tile(LEVELS()[one.name] ?? one.name, time(one.seconds), one.met, t("objective {objective}, {count} requests since its start", { objective: time(one.objective), count: one.count }))),
      levels.storage === null ? null : tile(t("storage"), amount.bytes(levels.storage), true)),
    element("ul", { class: "components" }, components.map((one) => element("li", { title: one.address },
      element("span", { class: `pill ${one.ready === null ? "quiet" : one.ready ? "good" : "bad"}` }, one.component), componentLink(one),
      one.address ? element("small", { class: "quiet" }, one.address) : null, one.restarts ? element("small", { class: "wait" }, t("{count} restarts", { count: one.restarts })) : null))));
}

/** Return the name of a component, linked to its pod; what runs outside of the cluster has none. */
function componentLink({ component, name, namespace, node }) {
  const text = component === "etcd" ? t("member {name}", { name: node || name }) : node || name;
  return namespace ? link(objectOf("pods", namespace, name), text) : element("span", {}, text);
}

async function drawQuotas(app, root) {
  let items = [];
  try {
    ({ items } = await app.call("GET", "/api/v1/resourcequotas"));
  } catch { /* who may not list them sees none */ }
  if (!items.length) return;
  root.hidden = false;
  root.replaceChildren(element("h2", {}, t("Quotas")), ...items.map((quota) => element("p", {}, link(objectOf("resourcequotas", quota.metadata.namespace, quota.metadata.name), `${quota.metadata.namespace}/${quota.metadata.name}`),
    element("span", { class: "quotas" }, Object.entries(quota.status?.hard || {}).map(([name, hard]) => quotaBar(name, quota.status.used?.[name] ?? "0", hard))))));
}

function quotaBar(name, used, hard) {
  const part = quantity(used) / (quantity(hard) || 1);
  const stripe = element("i", { class: part >= 1 ? "full" : part >= 0.8 ? "near" : "asked" });
  stripe.style.width = `${Math.min(100, 100 * part)}%`;
  return element("span", { class: "gauge", role: "img", "aria-label": `${name} ${used} / ${hard}` }, element("span", {}, name), element("span", { class: "track" }, stripe), element("small", {}, `${used} / ${hard}`));
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
    const items = newest.slice(0, MOST_EVENTS).map((row) => element("li", { class: cell(row, "Type") === "Warning" ? "warning" : "" }, element("time", { datetime: row[3] }, new Date(row[3]).toLocaleTimeString("en-GB")), element("span", {}, element("b", {}, cell(row, "Reason")), ` ${row[1]}/${cell(row, "Object")}`), element("p", {}, cell(row, "Message"))));
    root.replaceChildren(chart(counts), element("p", { class: "axis", "aria-hidden": "true" }, element("span", {}, t("an hour ago")), element("span", {}, t("now"))), element("ul", { class: "events" }, items.length ? items : element("li", { class: "quiet" }, t("None."))));
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
