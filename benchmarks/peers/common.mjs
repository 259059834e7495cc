// What the peers' programs share: how the benchmark talks to them, and the tasks.
//   PROGRAM VERB [NUMBER...]     DATABASE_URL in the environment
// A program that has connected prints "ready", waits for a line, works, and prints its answer as
// "answer NUMBER..." when all is done.
import { once } from "node:events";
import { createInterface } from "node:readline";

export const url = process.env.DATABASE_URL;
const lines = createInterface({ input: process.stdin });

export async function go() {
  console.log("ready");
  await once(lines, "line");
}
export function answer(...numbers) {
  console.log(["answer", ...numbers].join(" "));
}
export const now = () => performance.timeOrigin + performance.now();

const digits = (id) => String(id).padStart(10, "0");
export const keyOf = (id) => `invoice/${digits(id)}`;
/** The same object as the bare loops' payload: some 85 bytes. */
export const payloadOf = (id) => ({
  task: 10000000000 + id,
  to: "Unter den Linden 77, 10117 Berlin",
  kind: "invoice",
  n: 4,
});

let sum = 0;
const seen = new Set();
/** Reads the payload; false where the task came before, or with a payload that is not its own. */
export function read(payload) {
  sum += payload.to.length + payload.kind.length + payload.n;
  const id = payload.task - 10000000000;
  if (!(id > 0) || seen.has(id)) throw new Error(`task ${id} was given twice, or to the wrong one`);
  seen.add(id);
}
export const count = () => seen.size;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Random moments with this mean gap, as of independent users. */
export async function* moments(samples, meanGap) {
  let at = now();
  for (let nth = 0; nth < samples; ++nth) {
    at += -Math.log(1 - Math.random()) * meanGap;
    const wait = at - now();
    if (wait > 0) await sleep(wait);
    yield nth;
  }
}
/** p50 and p99. */
export function quantiles(all) {
  all.sort((a, b) => a - b);
  const at = (part) => all[Math.min(all.length - 1, Math.floor(all.length * part))];
  return [at(0.5).toFixed(3), at(0.99).toFixed(3)];
}
