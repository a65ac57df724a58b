// Ports of this machine that lead to pods. They belong to the page, not to a view: they stay while one goes about.

import { inNamespace, kubectl } from "./command.js";
import { confirm, field } from "./dialog.js";
import { element, link } from "./element.js";
import { objectOf } from "./places.js";
import { t } from "./words.js";

export class Forwards {
  constructor(stream) {
    this.stream = stream;
    this.element = element("span", { class: "forwards", role: "status" });
  }

  /** Ask for the port of a pod, and forward it. */
  async ask(namespace, pod, ports) {
    const list = element("datalist", { id: "ports" }, ports.map((port) => element("option", { value: port })));
    const words = ({ port, local }) => kubectl("port-forward", inNamespace(namespace), `pod/${pod}`, `${local || ""}:${port}`);
    await confirm({
      title: `${t("Forward a port")}: ${pod}`,
      fields: [field(t("Port of the pod"), { name: "port", list: "ports", inputmode: "numeric", value: ports[0] ?? "" }), list,
        field(t("Port of this machine (empty: any)"), { name: "local", inputmode: "numeric" })],
      ready: ({ port, local }) => /^\d{1,5}$/.test(port) && /^\d{0,5}$/.test(local),
      command: words,
      run: ({ port, local }) => this.open(namespace, pod, port, local),
    });
  }

  /** Forward; resolves when the port is open. */
  open(namespace, pod, port, local) {
    return new Promise((resolve, reject) => {
      const shown = element("span", { class: "forward" });
      const ask = { op: "port_forward", namespace, pod, port, local };
      const { stop, ask: sent } = this.stream.converse(ask, (message) => {
        if (message.error) {
          reject(new Error(message.error.message));
          shown.replaceChildren(element("span", { class: "problem" }, `${pod}: ${message.error.message}`), end);
        }
        if (!message.port) return;
        sent.local = String(message.port); // after a dropped connection the same one, if it is free
        // Another name than the dashboard's: a page of the pod must get none of its cookies.
        const address = `http://${location.hostname === "localhost" ? "127.0.0.1" : "localhost"}:${message.port}`;
        shown.replaceChildren(link(address, `localhost:${message.port}`, { target: "_blank", rel: "noreferrer noopener" }), " → ", link(objectOf("pods", namespace, pod), `${pod}:${port}`), end);
        this.element.append(shown);
        resolve();
      });
      const end = element("button", { "aria-label": t("End"), title: t("End"), onclick: () => { stop(); shown.remove(); } }, "×");
    });
  }
}
