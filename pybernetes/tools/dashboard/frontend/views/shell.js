// A shell in a container of a pod.

import { inNamespace, kubectl } from "../command.js";
import { element } from "../element.js";
import { address } from "../places.js";
import { Terminal } from "../terminal/terminal.js";
import { t } from "../words.js";

const LARGEST = 8000;

/** Show a shell; `attach` joins the container's own process instead. Returns a function that ends it. */
export function show(root, app, namespace, pod, parameters) {
  const container = parameters.get("container") || "", attach = parameters.get("attach") || "";
  const says = element("p", { class: "problem", role: "alert" });
  let size = [80, 24], started = false, subscription;
  const terminal = new Terminal(type, (...next) => { size = next; if (started) subscription.say({ size }); else if (!app.arriving) begin(); else offer(); });
  const command = attach ? kubectl("attach", "-it", inNamespace(namespace), pod, container && ["-c", container]) : kubectl("exec", "-it", inNamespace(namespace), pod, container && ["-c", container], "--", "sh");
  const again = element("button", { hidden: true, onclick: () => begin() }, t("Begin again"));
  const others = element("select", { "aria-label": t("Container"), onchange: (event) => { location.hash = address(["shell", namespace, pod], { container: event.target.value }); } });
  root.replaceChildren(element("header", { class: "bar" }, element("h1", {}, `${t("Shell in")} `, element("b", {}, pod)), others, again, element("code", { class: "command" }, command)), says, terminal.element);

  // What is pasted may be long; the server takes messages of a certain size.
  function type(text) {
    for (let at = 0; at < text.length; at += LARGEST) subscription?.say({ text: text.slice(at, at + LARGEST) });
  }

  // A link of somebody else's must not be enough to run something.
  function offer() {
    again.textContent = t("Begin");
    again.hidden = false;
    again.focus();
  }

  function begin() {
    started = true;
    again.textContent = t("Begin again");
    again.hidden = true;
    says.textContent = "";
    subscription?.stop();
    subscription = app.stream.converse({ op: "shell", namespace, pod, container, attach, size }, (message) => {
      if (message.reset) terminal.write("\r\n");
      if (message.text) terminal.write(message.text);
      if (message.error) says.textContent = message.error.message;
      if ("code" in message) says.textContent = message.code === null ? t("The connection was lost.") : t("It has ended with {code}.", { code: message.code });
      if (!message.end) return;
      again.hidden = Boolean(attach);
      if (terminal.element.contains(document.activeElement)) (attach ? root : again).focus();
    });
    terminal.input.focus();
  }

  app.call("GET", `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`).then((object) => {
    const names = [...object.spec.containers, ...(object.spec.ephemeralContainers || [])].map((one) => one.name);
    others.replaceChildren(...names.map((name) => element("option", { value: name, selected: name === container }, name)));
    others.hidden = names.length < 2;
  }, () => { others.hidden = true; });
  terminal.fit();
  return () => { subscription?.stop(); terminal.close(); };
}
