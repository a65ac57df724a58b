// The words of the pages in the reader's language. The English text is the key; other languages are files in languages/.

let table = {}, answers = [];

/** Choose a language: "en" or "ja"; anything else is English. */
export async function speak(language) {
  const japanese = language === "ja";
  table = japanese ? (await import("./languages/ja.js")).default : {};
  answers = japanese ? prepared((await import("./languages/ja_answers.js")).default) : [];
  document.documentElement.lang = japanese ? "ja" : "en";
}

/** Return the language that the address asks for (?lang=ja), or that the browser prefers. */
export function preferred() {
  return new URLSearchParams(location.search).get("lang") || navigator.language.split("-")[0];
}

const PLACE = /\{(\w+)\}/;
const filled = (text, values) => text.replace(new RegExp(PLACE, "g"), (_, name) => String(values[name] ?? ""));

/** Return a text in the reader's language; {name} stands for a value. */
export function t(text, values = {}) {
  return filled(table[text] ?? text, values);
}

/** Return an answer of the server in the reader's language: a sentence is known by its fixed parts, and values that are sentences are told, too. */
export function told(text) {
  for (const { parts, names, translated } of answers) {
    const found = between(text, parts);
    if (found) return filled(translated, Object.fromEntries(names.map((name, at) => [name, found[at].includes(" ") ? told(found[at]) : found[at]])));
  }
  return text;
}

/** Return sentences with their fixed parts, those with the most of them first: "Pod {name} is near" before "Pod {name}". */
function prepared(sentences) {
  const made = Object.entries(sentences).map(([text, translated]) => {
    const pieces = text.split(PLACE);
    return { parts: pieces.filter((_, at) => at % 2 === 0), names: pieces.filter((_, at) => at % 2), translated };
  });
  const fixed = ({ parts }) => parts.join("").length;
  return made.sort((one, other) => fixed(other) - fixed(one));
}

/** Return what stands between the fixed parts of a text; null if it does not have them. */
function between(text, parts) {
  const last = parts.at(-1), end = text.length - last.length, values = [];
  if (parts.length === 1) return text === last ? values : null;
  if (!text.startsWith(parts[0]) || !text.endsWith(last)) return null;
  let at = parts[0].length;
  for (const part of parts.slice(1, -1)) {
    const next = text.indexOf(part, at);
    if (next < 0 || next + part.length > end) return null;
    values.push(text.slice(at, next));
    at = next + part.length;
  }
  return at > end ? null : [...values, text.slice(at, end)];
}
