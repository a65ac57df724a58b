// Addresses of places within the dashboard, behind the #: every state that matters is in them, so that links and history work.

/** Return the parts of an address, such as ["list", "pods"], and its parameters. */
export function place(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").map(decoded), parameters: new URLSearchParams(query || "") };
}

// Addresses are typed and pasted, too.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(parts, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value));
  const path = parts.map(encodeURIComponent).join("/");
  return `#/${path}${query.size ? `?${query}` : ""}`;
}

export const listOf = (resource, parameters) => address(["list", resource], parameters);
export const objectOf = (resource, namespace, name) => address(["object", resource, namespace || "-", name]);

/** Return the path of a collection in the API. */
export function path(kind, namespace = "") {
  const root = kind.group ? `/apis/${kind.group}/${kind.version}` : `/api/${kind.version}`;
  return `${root}${kind.namespaced && namespace ? `/namespaces/${namespace}` : ""}/${kind.plural}`;
}
