// The federation: its clusters, and how each federated object does in each of them, as its status says.

import { kubectl } from "../command.js";
import { element, link } from "../element.js";
import { objectOf } from "../places.js";
import { t } from "../words.js";

const CLUSTERS = "kubefedclusters.core.kubefed.io";

/** Return whether the cluster is the host of a federation. */
export const hosts = (app) => app.kinds.has(CLUSTERS);

/** Show the federation; returns a function that ends it. */
export function show(root, app) {
  const says = element("p", { class: "problem", role: "alert" }), total = element("p", { class: "quiet", role: "status" }, t("connecting"));
  const cards = element("div", { class: "nodes" }), table = element("div", { class: "scrolled" });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, t("Federation")), element("code", { class: "command" }, kubectl("get", CLUSTERS, "-A"))), says,
    element("section", { class: "panel" }, element("h2", {}, t("Clusters")), cards), element("section", { class: "panel" }, element("h2", {}, t("Federated objects")), total, table));
  if (!hosts(app)) {
    total.textContent = t("This cluster has no {resource}.", { resource: CLUSTERS });
    return () => {};
  }

  function draw({ clusters, objects, counts }) {
    total.textContent = t("{good} as they should be, {wait} under way, {bad} not well", counts);
    cards.replaceChildren(...(clusters.length ? clusters.map(card) : [element("p", { class: "quiet" }, t("None."))]));
    // A cluster may have left, and objects still be there.
    const names = [...new Set([...clusters.map((cluster) => cluster.name), ...objects.flatMap((object) => Object.keys(object.clusters))])];
    table.replaceChildren(objects.length ? element("table", { class: "matrix" },
      element("thead", {}, element("tr", {}, [t("Kind"), t("Namespace"), t("Name"), ...names].map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, objects.map((object) => row(object, names)))) : element("p", { class: "quiet" }, t("None.")));
  }

  const row = (object, names) => element("tr", {}, element("td", {}, object.kind), element("td", {}, object.namespace),
    element("td", { class: object.state, title: object.reason }, link(objectOf(object.resource, object.namespace, object.name), object.name), object.reason ? ` ${object.reason}` : null),
    names.map((name) => element("td", {}, name in object.clusters ? element("span", { class: `pill ${object.clusters[name] ? (/^Waiting/.test(object.clusters[name]) ? "wait" : "bad") : "good"}` }, object.clusters[name] || "OK") : element("span", { class: "quiet", title: t("not placed there") }, "–"))));

  const stop = app.stream.subscribe({ op: "federation" }, (message) => {
    says.textContent = message.error ? message.error.message : message.unread?.length ? t("not shown, because you may not list them: {names}", { names: message.unread.join(", ") }) : "";
    if (message.federation) draw(message.federation);
  });
  return stop;
}

const card = (cluster) => element("article", { class: "node" },
  element("h3", {}, link(objectOf(CLUSTERS, cluster.namespace, cluster.name), cluster.name), element("span", { class: `pill ${cluster.ready ? "good" : "bad"}` }, cluster.ready ? t("ready") : t("not ready"))),
  element("p", { class: "quiet" }, [cluster.address, cluster.region, ...cluster.zones].filter(Boolean).join(" · ")), cluster.message ? element("p", { class: "bad" }, cluster.message) : null);
