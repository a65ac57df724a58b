// Makes elements. Texts are set as texts, never as markup: what objects contain can be anything.

/** Return an element: properties, listeners (onclick: f) and attributes, then children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return a link to a place within the dashboard. */
export function link(address, text, properties = {}) {
  return element("a", { href: address, ...properties }, text);
}
