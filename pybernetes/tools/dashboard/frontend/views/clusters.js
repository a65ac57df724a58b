// The clusters of the kubeconfig, side by side, and the way from one to another.

import { kubectl } from "../command.js";
import { element, link } from "../element.js";
import { address } from "../places.js";
import { session } from "../session.js";
import { Stream } from "../stream.js";
import { amount } from "../text.js";
import { t } from "../words.js";

const MOST = 8; // that many are looked at together; each has a connection of its own

/** Return the address of the dashboard for another context, at the same place or at another. */
export function at(context, hash = location.hash) {
  const parameters = new URLSearchParams(location.search);
  parameters.set("context", context);
  return `/?${parameters}${hash}`;
}

/** Return the choice of a context for the top of every page; null if there is but one. */
export function choice() {
  const { contexts, context } = session();
  if (contexts.length < 2) return null;
  return element("select", { id: "context", "aria-label": t("Cluster"), onchange: (event) => { location.assign(event.target.value === "" ? address(["clusters"]) : at(event.target.value)); } },
    contexts.map((name) => element("option", { value: name, selected: name === context }, name)), element("option", { value: "" }, t("All of them")));
}

/** Show all clusters; returns a function that ends it. */
export function show(root) {
  const { contexts } = session();
  const streams = [];
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, t("Clusters")), element("code", { class: "command" }, kubectl("config", "get-contexts"))),
    element("div", { class: "nodes" }, contexts.slice(0, MOST).map(card)));
  if (contexts.length > MOST) root.append(element("p", { class: "quiet" }, contexts.slice(MOST).flatMap((name) => [link(at(name, "#/cluster"), name), " "])));

  function card(name) {
    const health = element("p", { class: "quiet" }, t("connecting")), nodes = element("p", {});
    const stream = new Stream((state) => { if (state === "lost") { health.className = "bad"; health.textContent = t("cannot be reached"); } }, name);
    streams.push(stream);
    stream.subscribe({ op: "cluster" }, (message) => {
      if (message.health) {
        health.className = message.health.ok ? "good" : "bad";
        health.textContent = message.health.ok ? t("ready: {count} checks passed", { count: message.health.checks.length }) : message.health.message;
      }
      if (!message.nodes) return;
      const sum = (read) => message.nodes.reduce((all, node) => all + (read(node) || 0), 0);
      const bad = message.nodes.filter((node) => !node.ready).length;
      nodes.className = bad ? "bad" : "";
      nodes.textContent = t("{nodes} nodes ({bad} not ready), {pods} pods; CPU {cpu} of {allCpu} asked for", {
        nodes: message.nodes.length, bad, pods: sum((node) => node.load.pods), cpu: amount.cpu(sum((node) => node.load.cpu)), allCpu: amount.cpu(sum((node) => node.cpu)),
      });
    });
    return element("article", { class: "node" }, element("h3", {}, link(at(name, "#/cluster"), name)), health, nodes);
  }

  return () => streams.forEach((stream) => stream.close());
}
