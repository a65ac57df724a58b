// The words of the pages in the reader's language. The English text is the key; other languages are a file each in languages/.

let table = {};

/** Choose a language: "en" or "ja"; anything else is English. */
export async function speak(language) {
  table = language === "ja" ? (await import("./languages/ja.js")).default : {};
  document.documentElement.lang = language === "ja" ? "ja" : "en";
}

/** Return the language that the address asks for (?lang=ja), or that the browser prefers. */
export function preferred() {
  return new URLSearchParams(location.search).get("lang") || navigator.language.split("-")[0];
}

/** Return a text in the reader's language; {name} stands for a value. */
export function t(text, values = {}) {
  return (table[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
