// Begins: logs in, opens the stream, shows the place that the address names.

import { access, call, check, patch } from "./api.js";
import { element, link, plain } from "./element.js";
import { Forwards } from "./forwards.js";
import { ask, help } from "./palette.js";
import { Namespaces } from "./namespaces.js";
import { listOf, place } from "./places.js";
import { logIn, logOut, resume, sentBack, session } from "./session.js";
import { Stream } from "./stream.js";
import * as access_ from "./views/access.js";
import * as cluster from "./views/cluster.js";
import * as clusters from "./views/clusters.js";
import * as edit from "./views/edit.js";
import * as federation from "./views/federation.js";
import * as kinds from "./views/kinds.js";
import * as list from "./views/list.js";
import * as login from "./views/login.js";
import * as logs from "./views/logs.js";
import * as map from "./views/map.js";
import * as object from "./views/object.js";
import { box } from "./views/search.js";
import * as shell from "./views/shell.js";
import * as trace from "./views/trace.js";
import { preferred, speak, t } from "./words.js";

const VIEWS = {
  access: (root, app, [namespace], parameters) => access_.show(root, app, namespace || "default", parameters),
  federation: (root, app) => federation.show(root, app),
  cluster: (root, app) => cluster.show(root, app),
  clusters: (root) => clusters.show(root),
  list: (root, app, [resource], parameters) => list.show(root, app, resource, parameters),
  object: (root, app, [resource, namespace, name]) => object.show(root, app, resource, namespace === "-" ? "" : namespace, name),
  yaml: (root, app, [resource, namespace, name]) => object.show(root, app, resource, namespace === "-" ? "" : namespace, name, true),
  edit: (root, app, [resource, namespace, name]) => edit.show(root, app, resource, namespace === "-" ? "" : namespace, name),
  shell: (root, app, [namespace, pod], parameters) => shell.show(root, app, namespace, pod, parameters),
  map: (root, app, [namespace], parameters) => map.show(root, app, namespace || "-", parameters),
  trace: (root, app, [namespace, pod]) => trace.show(root, app, namespace, pod),
  logs: (root, app, [namespace, names], parameters) => logs.show(root, app, namespace, names, parameters),
};

async function begin() {
  await speak(preferred());
  const code = /^#code=([\w-]+)$/.exec(location.hash);
  const proof = code ? { code: code[1] } : sentBack();
  let problem = proof?.refused ?? "";
  if (code) history.replaceState(null, "", "#/"); // the code must not stay in the history
  if (proof && !("refused" in proof)) {
    try {
      await logIn(proof);
    } catch (error) {
      problem = error.message;
    }
  }
  if (session() || (await resume())) start();
  else login.show(document.body, start, problem);
}

async function start() {
  const light = element("span", { class: "light", role: "status" });
  const stream = new Stream((state) => { light.textContent = state === "live" ? "" : t("connection lost, trying again"); light.title = state; light.className = `light ${state}`; if (state === "lost") check(); });
  const app = { stream, kinds: new Map(), call, patch, may: access(stream), namespace: session().namespace, forwards: new Forwards(stream), arriving: true };
  const answer = await stream.ask({ op: "kinds" });
  for (const kind of answer.kinds) app.kinds.set(kind.resource, kind);
  app.namespaces = new Namespaces(app);
  const search = box(app);
  const root = element("main", { id: "view", tabindex: "-1" });
  const { user, context } = session();
  document.body.replaceChildren(
    element("header", { class: "top" }, element("button", { class: "opener", "aria-label": t("Kinds"), onclick: () => document.body.classList.toggle("menu") }, "☰"), link(listOf("pods"), [element("img", { src: "/icon.svg", alt: "", width: 20, height: 20 }), element("span", {}, "Pybernetes")], { class: "brand" }), search.element, app.forwards.element, light, element("span", { class: "who" }, `${user} @ `, clusters.choice() || context),
      element("button", { onclick: async () => { stream.close(); await logOut(); location.reload(); } }, t("Log out"))),
    element("div", { class: "columns" }, kinds.menu(app), root));
  let end = () => {};
  const show = () => {
    const { parts: [view, ...rest], parameters } = place();
    if (!Object.hasOwn(VIEWS, view)) {
      location.replace(listOf("pods"));
      return;
    }
    end();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    document.body.classList.remove("menu");
    for (const entry of document.querySelectorAll("nav a")) entry.classList.toggle("current", entry.dataset.resource ? entry.dataset.resource === rest[0] : entry.dataset.view === view);
    if (view === "list") keepNamespace(app, parameters.get("ns") || "");
    end = VIEWS[view](root, app, rest, parameters);
    // Who does not see the page is told where he is.
    const title = root.querySelector("h1")?.textContent ?? "";
    root.setAttribute("aria-label", title);
    document.title = `${plain(title.trim())} · Pybernetes`;
    if (!root.contains(document.activeElement)) root.focus();
  };
  addEventListener("hashchange", () => { app.arriving = false; show(); });
  addEventListener("keydown", (event) => key(event, app, search));
  addEventListener("click", (event) => copied(event.target.closest?.(".command")));
  show();
}

/** Have the menu lead to lists of the namespace that somebody looks at. */
function keepNamespace(app, namespace) {
  for (const entry of document.querySelectorAll("nav a[data-resource]")) {
    if (app.kinds.get(entry.dataset.resource).namespaced) entry.href = listOf(entry.dataset.resource, { ns: namespace });
  }
}

/** Copy a command; what says so is gone in a moment. */
async function copied(command) {
  if (!command || String(getSelection())) return;
  await navigator.clipboard.writeText(command.textContent).catch(() => {});
  command.classList.add("copied");
  setTimeout(() => command.classList.remove("copied"), 1200);
}

function key(event, app, search) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "/") { search.input.focus(); search.input.select(); }
  else if (event.key === ":") ask(app);
  else if (event.key === "?") help();
  else if (event.key === "K") copied(document.querySelector("main .command"));
  else if (event.key === "f") document.getElementById("filter")?.focus();
  else if (event.key === "Escape") history.back();
  else {
    const target = document.querySelector(`[data-key="${CSS.escape(event.key)}"]:not([disabled])`);
    if (!target) return;
    target.click();
  }
  event.preventDefault();
}

begin();
