// Makes elements. Texts are set as texts, never as markup: what objects contain can be anything.

// Characters that turn the direction of what follows: with them a text could look like another.
const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Return a text without what would make it look like another. */
export const plain = (text) => text.replace(TURNING, "\ufffd");

/** Return an element: properties, listeners (onclick: f) and attributes, then children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (typeof child === "string" ? plain(child) : child)));
  return made;
}

/** Return a link to a place within the dashboard. */
export function link(address, text, properties = {}) {
  return element("a", { href: address, ...properties }, text);
}
