// What can be done with objects: which actions fit, whether the user may, and the dialog that does it. One file for each in actions/.

import { cordon, uncordon } from "./actions/cordon.js";
import { debug } from "./actions/debug.js";
import { remove } from "./actions/delete.js";
import { drain } from "./actions/drain.js";
import { restart } from "./actions/restart.js";
import { rollback } from "./actions/rollback.js";
import { scale } from "./actions/scale.js";
import { inNamespace, kubectl } from "./command.js";
import { confirm } from "./dialog.js";
import { element } from "./element.js";
import { path } from "./places.js";
import { explain } from "./why.js";
import { t } from "./words.js";

const ACTIONS = [debug, scale, restart, rollback, cordon, uncordon, drain, remove];

/** Return what an action is done to: the kind, the name, and the path of the object in the API. */
export function targetOf(kind, namespace, name, object = null) {
  return { kind, namespace: kind.namespaced ? namespace : "", name, object, uid: object?.metadata.uid, path: `${path(kind, encodeURIComponent(namespace))}/${encodeURIComponent(name)}` };
}

/** Return buttons for what can be done with objects of a kind; `targets()` says with which. */
export async function buttons(app, kind, namespace, targets, { many = false, object = null } = {}) {
  const actions = ACTIONS.filter((action) => action.fits(kind) && !(many && action.single) && (!object || (action.suits?.(object) ?? true)));
  const may = await app.may(actions.map(({ needs }) => ({ verb: needs.verb, subresource: needs.subresource || "", group: kind.group, resource: kind.plural, namespace: kind.namespaced ? namespace : "" })));
  const offered = actions.map((action, at) => element("button", {
    class: action.danger ? "danger" : "", "data-key": action.key, disabled: !may[at],
    title: may[at] ? "" : t("You may not {verb} {resource} here.", { verb: action.needs.verb, resource: [kind.resource, action.needs.subresource].filter(Boolean).join("/") }),
    onclick: () => perform(app, action, targets()),
  }, action.title()));
  const refused = actions.find((_, at) => !may[at]);
  if (refused) offered.push(element("button", { class: "quiet", onclick: () => explained(app, kind, namespace, refused) }, t("Why not?")));
  return offered;
}

/** Say which rule would be needed for an action that the user may not do. */
function explained(app, kind, namespace, { needs }) {
  const answer = element("div", { class: "why" });
  explain(app, { verb: needs.verb, resource: kind.plural, group: kind.group, subresource: needs.subresource || "", namespace: kind.namespaced ? namespace : "" }, answer);
  return confirm({ title: t("Why not?"), fields: [answer], ready: () => false, command: () => kubectl("auth", "can-i", needs.verb, kind.resource, needs.subresource && `--subresource=${needs.subresource}`, inNamespace(kind.namespaced && namespace)), run: () => {} });
}

async function perform(app, action, targets) {
  if (!targets.length) return;
  let dialog;
  try {
    dialog = await action.dialog(app, targets);
  } catch (error) {
    dialog = { command: () => "", ready: () => false, explanation: error.message, one: () => {} };
  }
  const title = targets.length === 1 ? `${action.title()}: ${targets[0].name}` : t("{action}: {count} objects", { action: action.title(), count: targets.length });
  await confirm({
    title, danger: action.danger, ...dialog,
    async run(values, say, signal) {
      const failures = [];
      for (const target of targets) {
        signal.throwIfAborted();
        try {
          await dialog.one(target, values, say, signal);
          if (targets.length > 1) say(`${target.name}: ${t("done")}`);
        } catch (error) {
          if (signal.aborted) throw error;
          failures.push(targets.length > 1 ? `${target.name}: ${error.message}` : error.message);
        }
      }
      if (failures.length) throw new Error(failures.join("\n"));
    },
  });
}
