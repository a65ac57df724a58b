// What people want to know first of an object: what the server's own columns say of it, how it is, what is in it.

import { element, link } from "./element.js";
import { address, objectOf } from "./places.js";
import { state } from "./states.js";
import { age } from "./text.js";
import { t } from "./words.js";

// What the page says elsewhere, and what says nothing.
const ELSEWHERE = /^(Name|Age|Namespace|Containers|Data|Labels)$/, NOTHING = /^(|<none>|<unset>|<unknown>)$/;
const SHORT = 2000;

/** Return pairs of words and what is shown; `columns` are pairs of a name and a text of the server. */
export function facts({ metadata, spec = {}, status = {} }, columns) {
  const pairs = [[t("Created"), `${metadata.creationTimestamp} (${age(metadata.creationTimestamp)})`]];
  if (metadata.deletionTimestamp) pairs.push([t("Being deleted"), element("span", { class: "wait" }, t("since {time}; waits for {what}", { time: metadata.deletionTimestamp, what: (metadata.finalizers || []).join(", ") || t("its end") }))]);
  for (const [name, text] of columns) {
    if (ELSEWHERE.test(name) || NOTHING.test(text)) continue;
    pairs.push([name, name === "Node" ? link(objectOf("nodes", "", text), text) : element("span", { class: state(name, text) }, text)]);
  }
  if (typeof spec.replicas === "number") pairs.push([t("Replicas"), t("{ready} ready of {all}", { ready: status.readyReplicas || 0, all: spec.replicas })]);
  if (spec.taints?.length) pairs.push([t("Taints"), spec.taints.map(({ key, value, effect }) => element("code", { class: "label" }, `${key}${value ? `=${value}` : ""}:${effect}`))]);
  for (const [name, all] of [[t("Can be used"), status.allocatable], [t("Capacity"), status.capacity]]) {
    if (all) { pairs.push([name, Object.entries(all).filter(([, value]) => value !== "0").map(([what, value]) => `${what} ${value}`).join(", ")]); break; }
  }
  if (status.conditions?.length) pairs.push([t("Conditions"), conditions(status.conditions)]);
  for (const [name, texts] of [[t("Labels"), metadata.labels], [t("Annotations"), metadata.annotations]]) {
    const entries = Object.entries(texts || {}).filter(([key]) => key !== "kubectl.kubernetes.io/last-applied-configuration");
    if (entries.length) pairs.push([name, entries.map(([key, value]) => element("code", { class: "label", title: value }, `${key}=${value.length > 120 ? `${value.slice(0, 120)}…` : value}`))]);
  }
  return pairs;
}

// Of most conditions True is good; of these it is not.
const TURNED = /Pressure|Unavailable|Fail|Degraded|Stalled|Disrupt|Remaining|Suspended|Conflict|Resiz|Error|Terminating|Violat|Limited/;

/** Return how each condition is, those in full that are not as they should be. */
function conditions(all) {
  const wanted = ({ type }) => (TURNED.test(type) ? "False" : "True");
  return element("ul", { class: "conditions" }, all.filter(Boolean).map((one) => {
    const good = one.status === wanted(one);
    const why = [one.reason, one.message].filter(Boolean).join(": ");
    return element("li", { class: good ? "" : "told" }, element("span", { class: `pill ${good ? "good" : one.status === "Unknown" ? "wait" : "bad"}`, title: good ? why : "" }, `${one.type} ${one.status}`), good || !why ? null : ` ${why}`);
  }));
}

/** Return a table of a pod's containers, with ways to what each writes and to a shell; null if it has none. */
export function containers({ metadata, spec, status = {} }) {
  const groups = [[spec?.initContainers, status.initContainerStatuses], [spec?.containers, status.containerStatuses], [spec?.ephemeralContainers, status.ephemeralContainerStatuses]];
  const rows = groups.flatMap(([all = [], statuses = []]) => all.map((one) => row(metadata, one, statuses.find((other) => other.name === one.name))));
  if (!rows.length) return null;
  return element("div", { class: "scrolled" }, element("table", { class: "matrix" },
    element("thead", {}, element("tr", {}, [t("Name"), t("State"), t("Restarts"), t("Image"), t("Ports"), t("Asked for / at most"), ""].map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows)));
}

function row({ namespace, name: pod }, container, status = {}) {
  const [[what, details]] = Object.entries(status.state && Object.keys(status.state).length ? status.state : { waiting: {} });
  const last = status.lastState?.terminated, { requests = {}, limits = {} } = container.resources || {};
  const how = what === "running" ? (status.ready === false ? "wait" : "good") : what === "terminated" && details.exitCode === 0 ? "" : /Err|BackOff|Invalid/.test(details.reason || "") || what === "terminated" ? "bad" : "wait";
  const amounts = [...new Set([...Object.keys(requests), ...Object.keys(limits)])].map((one) => `${one} ${requests[one] ?? "–"} / ${limits[one] ?? "–"}`).join(", ");
  const words = `${what}${details.reason ? ` (${details.reason})` : ""}${what === "terminated" ? ` ${details.exitCode}` : ""}`;
  return element("tr", {}, element("td", {}, element("b", {}, container.name)),
    element("td", { class: how, title: details.message || "" }, words, last ? element("small", { class: "quiet" }, ` ${t("last ended with {code}", { code: `${last.exitCode}${last.reason ? ` (${last.reason})` : ""}` })}`) : null),
    element("td", {}, String(status.restartCount ?? 0)), element("td", { title: container.image }, container.image), element("td", {}, (container.ports || []).map((port) => `${port.containerPort}${port.protocol && port.protocol !== "TCP" ? `/${port.protocol}` : ""}`).join(", ")),
    element("td", {}, amounts), element("td", { class: "links" }, link(address(["logs", namespace, pod], { container: container.name }), t("Logs")), what === "running" ? link(address(["shell", namespace, pod], { container: container.name }), t("Shell")) : null));
}

/** Return what a ConfigMap or a Secret holds, key by key; a secret's values only when they are asked for. Null for others. */
export function contents({ kind, data, binaryData }) {
  if (!["ConfigMap", "Secret"].includes(kind)) return null;
  const entries = [...Object.entries(data || {}).map(([key, value]) => [key, value, kind === "Secret"]), ...Object.entries(binaryData || {}).map(([key, value]) => [key, value, true])].sort(([one], [other]) => one.localeCompare(other));
  if (!entries.length) return element("p", { class: "quiet" }, t("None."));
  return element("dl", { class: "summary contents" }, entries.flatMap(([key, value, encoded]) => [element("dt", {}, element("code", {}, key)), element("dd", {}, kind === "Secret" ? hidden(value) : shown(encoded ? decoded(value) : value))]));
}

function hidden(value) {
  const place = element("div", {}, element("button", { onclick: () => place.replaceChildren(shown(decoded(value))) }, t("Show")), element("small", { class: "quiet" }, ` ${t("{count} bytes", { count: bytesOf(value)?.length ?? "?" })}`));
  return place;
}

function shown(text) {
  if (text === null) return element("span", { class: "quiet" }, t("not a text"));
  return text.includes("\n") || text.length > 100 ? element("pre", { class: "yaml", tabindex: "0" }, text.length > SHORT ? `${text.slice(0, SHORT)}…` : text) : element("code", {}, text);
}

function bytesOf(base64) {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Return the text that base64 stands for; null if it is none. */
export function decoded(base64) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(base64) ?? undefined);
  } catch {
    return null;
  }
}
