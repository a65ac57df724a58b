// The kubectl command that does the same as a page. People paste it into a shell, and names can be anything: words are quoted.

const BARE = /^[\w@%+=:,./-]+$/;

const quoted = (word) => (BARE.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Return a command of words; those that are false, empty or missing are left out. */
export function kubectl(...words) {
  return ["kubectl", ...words.flat(Infinity).filter((word) => word || word === 0)].map((word) => quoted(String(word))).join(" ");
}

/** Return the words that name a namespace; none for kinds without one. */
export const inNamespace = (namespace) => (namespace ? ["-n", namespace] : []);

/** Return commands for objects of several namespaces, one for each. */
export function forEachNamespace(targets, command) {
  const namespaces = new Map();
  for (const target of targets) namespaces.set(target.namespace, [...(namespaces.get(target.namespace) || []), target]);
  return [...namespaces].map(([namespace, own]) => command(own.map((target) => `${target.kind.resource}/${target.name}`), inNamespace(namespace))).join("\n");
}
