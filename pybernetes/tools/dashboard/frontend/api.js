// Requests to the API, as the user.

import { asked, context, session } from "./session.js";

/** Ask the API; throws what it says against it, with its status. */
export async function call(method, path, body, type) {
  const headers = { "X-Dashboard-Token": session().token, Accept: "application/json", ...(context && { "X-Dashboard-Context": encodeURIComponent(context) }), ...(type && { "Content-Type": type }) };
  const answer = await asked(`/k8s${path}`, { method, headers, body });
  const text = await answer.text();
  if (!answer.ok) throw Object.assign(new Error(text.startsWith("{") ? JSON.parse(text).message : text), { status: answer.status });
  return JSON.parse(text);
}

/** Change some fields of an object. */
export function patch(path, change) {
  return call("PATCH", `${path}?fieldManager=pyb-dashboard`, JSON.stringify(change), "application/merge-patch+json");
}

/** Return a function that asks whether the user may do some things; one that could not be asked is not refused beforehand. */
export function access(stream) {
  return async (asks) => {
    if (!asks.length) return [];
    try {
      return (await stream.ask({ op: "access", asks })).allowed;
    } catch {
      return asks.map(() => true);
    }
  };
}
