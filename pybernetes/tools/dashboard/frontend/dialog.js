// A dialog that asks before something is done: what it is, the command that does the same, and then how it goes.

import { element } from "./element.js";
import { t } from "./words.js";

/**
 * Ask, and do it when told to. `fields` are elements with a name, whose values go to `command(values)` and `run(values, say, signal)`;
 * `ready(values)` says whether they will do. Resolves to true if it was done.
 */
export function confirm({ title, explanation = "", fields = [], command, ready = () => true, run, danger = false }) {
  return new Promise((resolve) => {
    let done = false;
    const ending = new AbortController();
    const shown = element("pre", { class: "command", "aria-label": t("The same with kubectl") });
    const says = element("p", { class: "problem", role: "alert" });
    const story = element("ul", { class: "story", role: "log" });
    const go = element("button", { type: "submit", id: "confirm", class: danger ? "danger" : "" }, title);
    const cancel = element("button", { type: "button", id: "cancel", onclick: () => dialog.close() }, t("Cancel"));
    const form = element("form", { method: "dialog", onsubmit: submit, oninput: update }, fields, shown, says, story, element("div", { class: "bar" }, go, cancel));
    const dialog = element("dialog", { "aria-label": title }, element("h1", {}, title), element("p", {}, explanation), form);
    dialog.addEventListener("close", () => { ending.abort(); dialog.remove(); resolve(done); });

    function values() {
      const named = [...form.elements].filter((field) => field.name);
      return Object.fromEntries(named.map((field) => [field.name, field.type === "checkbox" ? field.checked : field.value]));
    }

    function update() {
      shown.textContent = command(values());
      go.disabled = !ready(values());
    }

    async function submit(event) {
      event.preventDefault();
      go.disabled = true;
      says.textContent = "";
      story.replaceChildren();
      try {
        await run(values(), (line) => { story.append(element("li", {}, line)); story.lastChild.scrollIntoView({ block: "nearest" }); }, ending.signal);
        done = true;
        if (!story.children.length) return dialog.close();
        go.hidden = true;
        cancel.textContent = t("Close");
      } catch (error) {
        says.textContent = error.message;
        go.disabled = !ready(values());
      }
    }

    update();
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Return a field with its label. */
export function field(label, properties) {
  return element("label", { class: "field" }, element("span", {}, label), element("input", properties));
}

/** Return a field to be ticked. */
export function tick(label, name, checked = false) {
  return element("label", { class: "field" }, element("input", { type: "checkbox", name, checked }), element("span", {}, label));
}
