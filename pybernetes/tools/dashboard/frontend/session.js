// Who is logged in. The session itself is a cookie that scripts cannot see; what pages prove themselves with is kept here, in
// memory, and never in the browser's storage.

let current = null;

export const session = () => current;

/** The context of the kubeconfig that this page is for; empty for the one that was chosen at the start. */
export const context = new URLSearchParams(location.search).get("context") || "";

/** Ask the server. Reads that the browser gave up, because a network of the machine came or went, are asked once more. */
export async function asked(path, options = {}) {
  try {
    return await fetch(path, options);
  } catch (error) {
    if ((options.method || "GET") !== "GET") throw error;
    return fetch(path, options);
  }
}

/** Ask whether somebody is logged in. */
export async function resume() {
  const answer = await asked(context ? `/session?context=${encodeURIComponent(context)}` : "/session");
  current = answer.ok ? await answer.json() : null;
  return current;
}

/** Log in with a one-time code or a token; throws what the server says against it. */
export async function logIn(proof) {
  const answer = await fetch("/session", { method: "POST", body: JSON.stringify(proof) });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  current = await answer.json();
  if (context) await resume();
}

export async function logOut() {
  await fetch("/session", { method: "DELETE", headers: { "X-Dashboard-Token": current.token } });
  current = null;
}
