// Debug: another container in a pod, with tools that the pod's own may not have, and a shell in it.

import { inNamespace, kubectl } from "../command.js";
import { field } from "../dialog.js";
import { element } from "../element.js";
import { address } from "../places.js";
import { t } from "../words.js";

export const debug = {
  key: "D",
  single: true,
  title: () => t("Debug"),
  fits: (kind) => kind.resource === "pods",
  needs: { verb: "patch", subresource: "ephemeralcontainers" },
  async dialog(app, [target]) {
    const pod = await app.call("GET", target.path);
    const taken = new Set([...pod.spec.containers, ...(pod.spec.initContainers || []), ...(pod.spec.ephemeralContainers || [])].map((container) => container.name));
    let number = 1;
    while (taken.has(`debugger-${number}`)) number++;
    const name = `debugger-${number}`;
    const choice = element("select", { name: "of" }, pod.spec.containers.map((container) => element("option", {}, container.name)));
    return {
      explanation: t("A container is added to the pod, and stays until the pod goes."),
      fields: [field(t("Image"), { name: "image", value: "busybox" }), element("label", { class: "field" }, element("span", {}, t("Sees the processes of")), choice)],
      ready: ({ image }) => Boolean(image.trim()),
      command: ({ image, of }) => kubectl("debug", "-it", target.name, inNamespace(target.namespace), `--image=${image}`, `--target=${of}`, "-c", name),
      async one(_, { image, of }, say, signal) {
        const container = { name, image: image.trim(), targetContainerName: of, stdin: true, tty: true, terminationMessagePolicy: "File" };
        const change = { spec: { ephemeralContainers: [container] } };
        await app.call("PATCH", `${target.path}/ephemeralcontainers`, JSON.stringify(change), "application/strategic-merge-patch+json");
        say(t("waiting until it runs"));
        await running(app, target, name, signal);
        document.querySelector("dialog")?.close();
        location.hash = address(["shell", target.namespace, target.name], { container: name, attach: "1" });
      },
    };
  },
};

/** Wait until a container runs; throws what keeps it from that. */
function running(app, target, name, signal) {
  return new Promise((resolve, reject) => {
    const stop = app.stream.subscribe({ op: "object", path: target.path.replace(/\/[^/]*$/, ""), name: target.name }, (message) => {
      const state = message.object?.status?.ephemeralContainerStatuses?.find((status) => status.name === name)?.state || {};
      const failed = message.error?.message || (message.gone && t("It is gone.")) || state.terminated?.reason || (/(BackOff|Err|Error)/.test(state.waiting?.reason) && `${state.waiting.reason}: ${state.waiting.message || ""}`);
      if (!failed && !state.running) return;
      stop();
      if (failed) reject(new Error(failed));
      else resolve();
    });
    signal.addEventListener("abort", () => { stop(); reject(signal.reason); });
  });
}
