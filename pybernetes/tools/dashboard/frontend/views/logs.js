// Logs of one or several pods, followed, each line with the pod and container that wrote it.

import { inNamespace, kubectl } from "../command.js";
import { element, link, plain } from "../element.js";
import { address, objectOf } from "../places.js";
import { t } from "../words.js";

const MOST_LINES = 20_000, COLOURS = 6;
// What the pods had written before comes one pod after another, and is put in order; what comes later comes in order, nearly.
const SETTLED = 3000;
const STAMPED = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/s;

/** Show the logs of pods (names, with commas between them); returns a function that ends it. */
export function show(root, app, namespace, names, parameters) {
  const pods = names.split(",");
  const previous = parameters.get("previous") || "", timestamps = parameters.get("timestamps") || "", container = parameters.get("container") || "";
  const stops = [];
  let lines = [], shownTo = 0, waiting = 0, ended = false;
  const find = element("input", { type: "search", id: "filter", placeholder: t("Only lines with"), "aria-label": t("Only lines with"), oninput: () => again() });
  const text = element("pre", { class: "log", tabindex: "0", role: "log", "aria-label": t("Logs") });
  const says = element("span", { class: "problem", role: "alert" });
  const count = element("span", { class: "count", role: "status" });
  const go = (changed) => { location.hash = address(["logs", namespace, names], { previous, timestamps, container, ...changed }); };
  const toggle = (id, label, value) => element("label", { class: "tick" }, element("input", { type: "checkbox", id, checked: Boolean(value), onchange: (event) => go({ [id]: event.target.checked ? "1" : "" }) }), label);
  const choice = element("select", { "aria-label": t("Container"), hidden: true, onchange: (event) => go({ container: event.target.value }) });
  const flags = [container ? ["-c", container] : "--all-containers", previous ? "--previous" : "-f", timestamps && "--timestamps"];
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, `${t("Logs of")} `, pods.flatMap((pod, at) => [at ? ", " : "", link(objectOf("pods", namespace, pod), pod, { class: "strong" })])), find, choice,
    toggle("previous", t("Previous"), previous), toggle("timestamps", t("Times"), timestamps), element("button", { onclick: save }, t("Download")), count, says,
    element("code", { class: "command" }, pods.map((pod) => kubectl("logs", inNamespace(namespace), pod, flags)).join("; "))), text);

  const began = performance.now();

  const wanted = ([, line]) => !find.value || line.toLowerCase().includes(find.value.toLowerCase());
  const words = ([from, line]) => (many() && from ? `${from}  ${line}` : line);
  const drawn = (entry) => (many() && entry[0] ? [element("span", { class: `from from-${[...rest.keys()].indexOf(entry[0]) % COLOURS}` }, entry[0]), `  ${plain(entry[1])}\n`] : [`${plain(entry[1])}\n`]);

  function again() {
    text.replaceChildren();
    shownTo = 0;
    draw();
  }

  /** Draw what has come since the last time. */
  function draw() {
    waiting = 0;
    const end = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
    if (many() && shownTo < lines.length && performance.now() - began < SETTLED) {
      lines.sort((one, other) => (one[2] < other[2] ? -1 : one[2] > other[2] ? 1 : 0));
      text.replaceChildren();
      shownTo = 0;
    }
    text.append(...lines.slice(shownTo).filter(wanted).flatMap(drawn));
    shownTo = lines.length;
    count.textContent = lines.length ? t("{count} lines", { count: lines.length }) : ended ? t("None.") : "";
    if (end) text.scrollTop = text.scrollHeight;
  }

  function add(from, part) {
    const parts = (rest.get(from) + part).split("\n");
    rest.set(from, parts.pop());
    for (const part of parts) {
      const [, time = "", line = part] = STAMPED.exec(part) || [];
      lines.push([from, timestamps ? part : line, time]);
    }
    if (lines.length > MOST_LINES * 1.1) { lines = lines.slice(-MOST_LINES); text.replaceChildren(); shownTo = 0; }
    waiting ||= requestAnimationFrame(draw);
  }

  const rest = new Map();
  const many = () => pods.length > 1 || rest.size > 1;

  function save() {
    const url = URL.createObjectURL(new Blob([lines.map((entry) => `${words(entry)}\n`).join("")], { type: "text/plain" }));
    element("a", { href: url, download: `${pods[0]}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async function begin(pod) {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
    const { spec } = await app.call("GET", path);
    const all = [...(spec.initContainers || []), ...spec.containers, ...(spec.ephemeralContainers || [])].map((one) => one.name);
    if (pods.length === 1 && all.length > 1) {
      choice.replaceChildren(element("option", { value: "" }, t("all containers")), ...all.map((name) => element("option", { value: name, selected: name === container }, name)));
      choice.hidden = false;
    }
    for (const name of all.filter((one) => !container || one === container)) {
      const from = `${pod}/${name}`;
      rest.set(from, "");
      stops.push(app.stream.subscribe({ op: "log", path: `${path}/log`, container: name, previous, timestamps: "1" }, (message) => {
        if (message.reset) { lines = lines.filter((entry) => entry[0] !== from); rest.set(from, ""); again(); }
        if (message.error) says.textContent = message.error.message;
        if (message.text) add(from, message.text);
        if (!message.end) return;
        ended = true;
        if (rest.get(from)) add(from, "\n"); // the last line may have no end
        draw();
      }));
    }
  }

  for (const pod of pods) begin(pod).catch((error) => { says.textContent = error.message; });
  text.focus();
  return () => stops.forEach((stop) => stop());
}
