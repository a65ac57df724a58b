// The choice of a namespace, for all views that have one; followed, so that new ones are there.

import { element } from "./element.js";
import { path } from "./places.js";
import { t } from "./words.js";

export class Namespaces {
  constructor(app) {
    this.app = app;
    this.names = new Set(app.namespace ? [app.namespace] : []);
    this.choices = new Set();
  }

  /** Return a choice; `chosen(namespace)` gets an empty text for all of them, which there is unless `all` is false. */
  choice(value, chosen, { all = true } = {}) {
    this.follow();
    const made = element("select", { class: "namespace", "data-key": "n", "aria-label": t("Namespace"), onchange: (event) => chosen(event.target.value), onclick: () => made.focus() });
    this.choices.add(made);
    this.fill(made, value, all);
    return made;
  }

  follow() {
    const kind = this.app.kinds.get("namespaces");
    if (this.following || !kind) return;
    this.following = this.app.stream.subscribe({ op: "table", path: path(kind) }, (message) => {
      if (message.error) return; // who may not list them types one in the palette
      const before = this.names.size;
      for (const row of message.changed || []) this.names.add(row[2]);
      for (const key of message.removed || []) this.names.delete(key.slice(1));
      if (this.names.size === before && !message.removed?.length) return;
      for (const choice of this.choices) {
        if (!choice.isConnected) this.choices.delete(choice);
        else if (choice !== document.activeElement) this.fill(choice, choice.value, choice.options[0].value === "");
      }
    });
  }

  fill(choice, value, all) {
    const names = [...new Set([...this.names, ...(value ? [value] : [])])].sort();
    choice.replaceChildren(...(all ? [element("option", { value: "" }, t("all namespaces"))] : []), ...names.map((name) => element("option", { value: name, selected: name === value }, name)));
  }
}
