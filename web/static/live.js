// The line to the table: one stream of snapshots, a watchdog, and polling where streams fail.
import { random } from "./dom.js";
import { language } from "./words.js";

const WATCHDOG_MS = 30_000; // three heartbeats
const POLL_MS = 5_000;
const HIDDEN_MS = 30_000; // a page nobody sees gives its place back
const REQUEST_MS = 6_000;
const RETRY_MS = 1_500;
const REOPEN_MS = 15_000;

let state = null;
let source = null;
let view = "";
let heardAt = 0;
let isUp = true;
let pollTimer = 0;
let reopenAt = 0; // when a stream that was turned away is tried again
let hiddenTimer = 0;
const stateListeners = [];
const lineListeners = [];

export const now = () => state;


export function onState(listener) {
  stateListeners.push(listener);
  if (state) listener(state);
}

/** Told true when the table answers again and false when it does not. */
export function onLine(listener) {
  lineListeners.push(listener);
}

/** @param as what the page shows, where the table has to know */
export function start(as = "") {
  view = as;
  open();
  setInterval(watch, 1_000);
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === "visible") open();
    else hiddenTimer = setTimeout(shut, HIDDEN_MS);
  });
  // iOS drops streams of sleeping pages without a word: whatever wakes a page opens a new one
  addEventListener("pageshow", (event) => event.persisted && open());
  addEventListener("online", open);
  addEventListener("offline", poll);
  addEventListener("pagehide", shut);
}

/** Open the stream anew, as after taking a seat. */
export function open() {
  shut();
  heardAt = Date.now();
  source = new EventSource(`/api/events?language=${language}${view && `&view=${view}`}`);
  const own = source;
  own.addEventListener("state", (event) => own === source && heard(JSON.parse(event.data)));
  own.addEventListener("beat", () => own === source && heard(null));
  own.addEventListener("replaced", () => own === source && fallBack(Infinity));
  own.addEventListener("error", () => {
    if (own !== source) return;
    if (own.readyState === EventSource.CLOSED) fallBack();
    else poll(); // the browser tries again by itself; meanwhile ask whether the table is there
  });
}

function shut() {
  source?.close();
  source = null;
  clearTimeout(pollTimer);
  pollTimer = 0;
}

function watch() {
  if (source && Date.now() - heardAt > WATCHDOG_MS) fallBack();
}

/** Ask every few seconds instead; a page that newer ones replaced does so until it is looked at. */
function fallBack(forMs = REOPEN_MS) {
  shut();
  reopenAt = Date.now() + forMs;
  poll();
}

async function poll() {
  clearTimeout(pollTimer);
  const answer = await request("GET", `/api/state${view && `?view=${view}`}`);
  if (answer?.ok) accept(answer.data);
  line(answer !== null);
  clearTimeout(pollTimer);
  if (source?.readyState === EventSource.OPEN || document.visibilityState !== "visible") return;
  if (source === null && isUp && Date.now() >= reopenAt) open();
  else {
    pollTimer = setTimeout(poll, isUp ? POLL_MS : RETRY_MS);
  }
}

function heard(snapshot) {
  heardAt = Date.now();
  clearTimeout(pollTimer);
  pollTimer = 0;
  line(true);
  if (snapshot) accept(snapshot);
}

function line(up) {
  if (up === isUp) return;
  isUp = up;
  for (const listener of lineListeners) listener(up);
}

/** False for a snapshot that a newer one has overtaken. */
function accept(snapshot) {
  // answers and stream messages may overtake each other; after a restart versions begin anew
  if (state && snapshot.epoch === state.epoch && snapshot.version < state.version) return false;
  state = snapshot;
  for (const listener of stateListeners) listener(state);
  return true;
}

/** Whether an answer gave or took a seat that the stream, opened before, does not know of. */
const isAnother = (me) => String(me.seats) !== String(state.me.seats) || me.host !== state.me.host;

async function request(method, path, body) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), REQUEST_MS);
  try {
    const response = await fetch(path, {
      method,
      headers: { "Page-Language": language, ...(body ? { "Content-Type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
      signal: stop.signal,
      cache: "no-store",
    });
    const data = await response.json().catch(() => ({}));
    return { ok: response.ok, status: response.status, data };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Read something besides the snapshots. Null: the table could not be reached. */
export const get = (path) => request("GET", path);

/** Ask the table for something. Null: it could not be reached. */
export async function post(path, body = {}) {
  const answer = await request("POST", path, body);
  line(answer !== null);
  if (answer === null) {
    if (!pollTimer) pollTimer = setTimeout(poll, RETRY_MS);
    return null;
  }
  const snapshot = answer.ok ? answer.data : answer.data.state;
  if (snapshot?.version !== undefined && !accept(snapshot) && isAnother(snapshot.me)) open();
  return answer;
}

/**
 * Ask again with the same key until the table answers.
 * @param isWanted whether it is still to be done; where not, no more is tried
 * @param isTimely whether it still fits; where not, one last time tells whether it was heard before
 */
export async function postSurely(path, body, isWanted, isTimely) {
  const keyed = { ...body, key: random() };
  for (;;) {
    const isLast = !isTimely();
    const answer = await post(path, keyed);
    // the table's disk may be busy for a moment: that too is worth another try
    if (answer !== null && answer.status !== 503) return answer;
    if (isLast) return null;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (!isWanted()) return null;
  }
}
