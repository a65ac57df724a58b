// The menu: every kind that the cluster has, the ones that people use most first.

import { element, link } from "../element.js";
import { address, listOf } from "../places.js";
import { t } from "../words.js";

const FIRST = ["pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch", "services", "ingresses.networking.k8s.io",
  "configmaps", "secrets", "persistentvolumeclaims", "nodes", "namespaces", "events"];

/** Return the menu. */
export function menu(app) {
  const entry = (kind) => element("li", {}, link(listOf(kind.resource), kind.kind, { title: kind.resource, "data-resource": kind.resource }));
  const first = FIRST.map((name) => app.kinds.get(name)).filter(Boolean);
  const others = [...app.kinds.values()].filter((kind) => !FIRST.includes(kind.resource)).sort((one, other) => one.kind.localeCompare(other.kind));
  return element("nav", { "aria-label": t("Kinds") }, element("ul", {}, element("li", {}, link(address(["cluster"]), t("Cluster"), { "data-key": "C" })), element("li", {}, link(address(["map", app.namespace || "default"]), t("Map"), { "data-key": "M" })), first.map(entry)), element("details", {}, element("summary", {}, t("{count} more", { count: others.length })), element("ul", {}, others.map(entry))));
}

/** Return the kind that somebody means: by resource, plural, kind or short name. */
export function meant(app, word) {
  const text = word.toLowerCase();
  return [...app.kinds.values()].find((kind) => [kind.resource, kind.plural, kind.kind.toLowerCase(), ...kind.shortNames].includes(text));
}
