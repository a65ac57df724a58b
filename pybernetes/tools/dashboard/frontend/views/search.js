// The search over everything: results while typing, arrows and Enter to go there.

import { element, link } from "../element.js";
import { objectOf } from "../places.js";
import { t } from "../words.js";

const AGAIN = 500;

/** Return the box and its results, for the top of every page. */
export function box(app) {
  let chosen = 0, asked = 0, hits = [], answered = "", going = false;
  const list = element("ul", { role: "listbox", id: "hits", "aria-label": t("Search everything") });
  const says = element("p", { class: "quiet", role: "status" });
  const results = element("div", { class: "hits", hidden: true }, list, says);
  const input = element("input", {
    type: "search", id: "search", placeholder: `${t("Search everything")}  /`, autocomplete: "off", role: "combobox", "aria-controls": "hits", "aria-expanded": "false", "aria-autocomplete": "list", "aria-label": t("Search everything"),
    oninput: () => { going = false; ask(); }, onfocus: ask, onkeydown: key, onblur: () => setTimeout(close, 150),
  });

  async function ask() {
    const number = ++asked;
    const text = input.value.trim();
    if (!text) return close();
    const began = performance.now();
    const answer = await app.stream.ask({ op: "search", text });
    if (number !== asked) return; // something else has been typed meanwhile
    hits = answer.hits;
    if (answered !== text) chosen = 0;
    answered = text;
    const notes = [t("{count} of {all} objects, {time} ms", { count: hits.length, all: answer.objects, time: Math.round(performance.now() - began) })];
    if (!answer.ready) notes.push(t("still reading the cluster"));
    if (answer.unread.length) notes.push(t("not searched, because you may not list them: {count} kinds", { count: answer.unread.length }));
    list.replaceChildren(...hits.map(item));
    says.textContent = notes.join("; ");
    says.title = answer.unread.join(", ");
    results.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark();
    if (going) return go();
    // The server says when it has read the whole cluster only if it is asked.
    if (!answer.ready) setTimeout(() => number === asked && ask(), AGAIN);
  }

  function item([resource, namespace, name, field, text], at) {
    return element("li", { role: "option", id: `hit-${at}`, onmousemove: () => { chosen = at; mark(); } },
      link(objectOf(resource, namespace, name), [element("b", {}, field === "message" ? text : name), element("span", {}, ` ${resource}${namespace ? ` ${t("in {namespace}", { namespace })}` : ""}`), field === "name" ? null : element("small", {}, field === "message" ? ` ${name}` : ` ${field} ${text}`)], { onclick: close, tabindex: "-1" }));
  }

  function mark() {
    [...list.children].forEach((child, at) => child.setAttribute("aria-selected", at === chosen));
    if (hits[chosen]) input.setAttribute("aria-activedescendant", `hit-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  }

  function key(event) {
    if (event.key === "ArrowDown") chosen = Math.min(hits.length - 1, chosen + 1);
    else if (event.key === "ArrowUp") chosen = Math.max(0, chosen - 1);
    else if (event.key === "Enter") {
      // Who types fast means what he has typed, not what was found for half of it.
      going = answered !== input.value.trim();
      return going ? undefined : go();
    }
    else if (event.key === "Escape") { close(); input.blur(); return; }
    else return;
    event.preventDefault();
    mark();
  }

  function go() {
    going = false;
    if (!hits[chosen]) return;
    location.hash = objectOf(...hits[chosen].slice(0, 3));
    close();
    input.blur();
  }

  function close() {
    asked++;
    going = false;
    results.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  return { element: element("div", { class: "search" }, input, results), input };
}
