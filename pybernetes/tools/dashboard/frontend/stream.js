// One WebSocket for all that changes. A subscription is a function that gets messages; after a dropped connection all that are
// open are asked for again, and told {reset: true}: what they get then begins anew.

import { check } from "./api.js";
import { context, session } from "./session.js";

const LONGEST_DELAY = 10_000;

export class Stream {
  /** `of` is the context of the kubeconfig, if it is another than the page's. */
  constructor(onState, of = context) {
    this.query = of ? `?context=${encodeURIComponent(of)}` : "";
    this.subscriptions = new Map();
    this.next = 1;
    this.failures = 0;
    this.onState = onState;
    this.open();
  }

  open() {
    const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/stream${this.query}`;
    this.socket = new WebSocket(address, ["dashboard.pybernetes.v1", `token.${session().token}`]);
    this.socket.onopen = () => {
      this.failures = 0;
      this.onState("live");
      for (const subscription of this.subscriptions.values()) {
        if (subscription.asked) subscription.take({ reset: true });
        this.send(subscription);
      }
    };
    this.socket.onmessage = (event) => this.take(JSON.parse(event.data));
    this.socket.onclose = () => {
      if (this.ended) return;
      this.onState("lost");
      const delay = Math.min(LONGEST_DELAY, 250 * 2 ** this.failures++);
      setTimeout(() => this.ended || this.open(), delay);
    };
  }

  send(subscription) {
    subscription.asked = true;
    this.socket.send(JSON.stringify(subscription.ask));
  }

  take(message) {
    const subscription = this.subscriptions.get(message.id);
    if (!subscription) return;
    if (message.end) this.subscriptions.delete(message.id);
    if (message.error?.code === 401) check();
    subscription.take(message);
  }

  /** Follow something; returns a function that ends it. */
  subscribe(ask, take) {
    const id = this.next++;
    const subscription = { ask: { ...ask, id }, take };
    this.subscriptions.set(id, subscription);
    if (this.socket.readyState === WebSocket.OPEN) this.send(subscription);
    return () => {
      if (!this.subscriptions.delete(id)) return;
      if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ id, op: "stop" }));
    };
  }

  /** Follow something that listens, too: `say` sends it something, `stop` ends it. */
  converse(ask, take) {
    const id = this.next;
    const stop = this.subscribe(ask, take);
    const say = (message) => {
      if (this.subscriptions.has(id) && this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ ...message, id, op: "say" }));
    };
    return { say, stop, ask: this.subscriptions.get(id).ask };
  }

  /** Ask for what has one answer. */
  ask(ask) {
    return new Promise((resolve, reject) => {
      this.subscribe(ask, (message) => {
        if (message.error) reject(new Error(message.error.message));
        else if (!message.end && !message.reset) resolve(message);
      });
    });
  }

  close() {
    this.ended = true;
    this.socket.close();
  }
}
