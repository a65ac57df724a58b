// The menu: every kind that the cluster has, the ones that people use most first, the others by their API group.

import { element, link } from "../element.js";
import { address, listOf } from "../places.js";
import { t } from "../words.js";
import { hosts } from "./federation.js";

const SECTIONS = () => [
  [t("Workloads"), ["pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch", "cronjobs.batch"]],
  [t("Network"), ["services", "ingresses.networking.k8s.io", "gateways.gateway.networking.k8s.io", "networkpolicies.networking.k8s.io"]],
  [t("Configuration and storage"), ["configmaps", "secrets", "persistentvolumeclaims"]],
  [t("Cluster"), ["nodes", "namespaces", "events"]],
];

/** Return the name of a kind for many of them, in its own capitals: "Pods", "NetworkPolicies". */
export function many({ kind, plural }) {
  let same = 0;
  while (same < kind.length && kind[same].toLowerCase() === plural[same]) same++;
  return kind.slice(0, same) + plural.slice(same);
}

/** Return the menu. */
export function menu(app) {
  const entry = (kind) => element("li", {}, link(listOf(kind.resource), many(kind), { title: kind.resource, "data-resource": kind.resource }));
  const view = (name, text, key, ...rest) => element("li", {}, link(address([name, ...rest]), text, { "data-view": name, "data-key": key }));
  const sections = SECTIONS().map(([title, resources]) => [title, resources.map((name) => app.kinds.get(name)).filter(Boolean)]).filter(([, kinds]) => kinds.length);
  const first = new Set(sections.flatMap(([, kinds]) => kinds));
  const others = [...app.kinds.values()].filter((kind) => !first.has(kind)).sort((one, other) => one.kind.localeCompare(other.kind));
  const groups = new Map();
  for (const kind of others) groups.set(kind.group || "v1", [...(groups.get(kind.group || "v1") || []), kind]);
  return element("nav", { "aria-label": t("Kinds") },
    element("ul", {}, view("cluster", t("Overview"), "C"), view("map", t("Map"), "M", app.namespace || "default"), hosts(app) ? view("federation", t("Federation")) : null, view("access", t("Rights"), null, app.namespace || "default")),
    sections.map(([title, kinds]) => [element("h2", {}, title), element("ul", {}, kinds.map(entry))]).flat(),
    element("details", {}, element("summary", {}, t("{count} more kinds", { count: others.length })),
      [...groups].sort(([one], [other]) => one.localeCompare(other)).map(([group, kinds]) => [element("h2", { class: "group" }, group), element("ul", {}, kinds.map(entry))]).flat()));
}

/** Return the kind that somebody means: by resource, plural, kind or short name. */
export function meant(app, word) {
  const text = word.toLowerCase();
  return [...app.kinds.values()].find((kind) => [kind.resource, kind.plural, kind.kind.toLowerCase(), ...kind.shortNames].includes(text));
}
