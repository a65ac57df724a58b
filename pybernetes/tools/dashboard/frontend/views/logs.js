// Logs of one or several pods, followed, each line with the pod and container that wrote it.

import { inNamespace, kubectl } from "../command.js";
import { element } from "../element.js";
import { t } from "../words.js";

const MOST_LINES = 20_000;

/** Show the logs of pods (names, with commas between them); returns a function that ends it. */
export function show(root, app, namespace, names) {
  const pods = names.split(",");
  const stops = [];
  const lines = [];
  const find = element("input", { type: "search", id: "filter", placeholder: t("Only lines with"), "aria-label": t("Only lines with"), oninput: () => draw() });
  const text = element("pre", { class: "log", tabindex: "0", role: "log" });
  const says = element("span", { class: "problem", role: "alert" });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, `${t("Logs of")} `, element("b", {}, pods.join(", "))), find,
    element("button", { onclick: save }, t("Download")), says, element("code", { class: "command" }, pods.map((pod) => kubectl("logs", "-f", inNamespace(namespace), pod, "--all-containers")).join("; "))), text);
  let waiting = 0;

  function draw() {
    waiting = 0;
    const end = text.scrollHeight - text.scrollTop - text.clientHeight < 40;
    const word = find.value.toLowerCase();
    text.textContent = (word ? lines.filter((line) => line.toLowerCase().includes(word)) : lines).join("\n");
    if (end) text.scrollTop = text.scrollHeight;
  }

  function add(from, part) {
    const parts = (rest.get(from) + part).split("\n");
    rest.set(from, parts.pop());
    for (const line of parts) lines.push(many() ? `${from}  ${line}` : line);
    if (lines.length > MOST_LINES) lines.splice(0, lines.length - MOST_LINES);
    waiting ||= requestAnimationFrame(draw);
  }

  const rest = new Map();
  const many = () => pods.length > 1 || rest.size > 1;

  function save() {
    const url = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/plain" }));
    element("a", { href: url, download: `${pods[0]}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async function begin(pod) {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
    const object = await app.call("GET", path);
    for (const { name } of [...(object.spec.initContainers || []), ...object.spec.containers]) {
      const from = `${pod}/${name}`;
      rest.set(from, "");
      stops.push(app.stream.subscribe({ op: "log", path: `${path}/log`, container: name }, (message) => {
        if (message.reset) { lines.length = 0; rest.set(from, ""); }
        if (message.error) says.textContent = message.error.message;
        if (message.text) add(from, message.text);
      }));
    }
  }

  for (const pod of pods) begin(pod).catch((error) => { says.textContent = error.message; });
  text.focus();
  return () => stops.forEach((stop) => stop());
}
