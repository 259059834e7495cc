// pg-boss: `drain` by fetch and complete of 1000 at a time, `work` by its workers with bursts.
// Verbs: setup | unique N | import N | drain | work N | delay SAMPLES GAP | idle
import { PgBoss } from "pg-boss";
import { url, go, answer, now, keyOf, payloadOf, read, count, moments, quantiles, sleep }
  from "./common.mjs";

const [verb, ...numbers] = process.argv.slice(2);
const [first, second] = numbers.map(Number);
const queue = "task";

/** Without maintenance, and with or without LISTEN. */
async function start(options = {}) {
  const boss = new PgBoss({
    connectionString: url, supervise: false, schedule: false, ...options,
  });
  boss.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  await boss.start();
  return boss;
}

/** Keys are unique only in a queue of the policy `short`; the plain one is the fast one. */
async function add(tasks, atOnce, keys) {
  const boss = await start({ migrate: false });
  await go();
  for (let from = 1; from <= tasks; from += atOnce) {
    const jobs = [];
    for (let id = from; id < from + atOnce && id <= tasks; ++id) {
      jobs.push({ data: payloadOf(id), ...(keys ? { singletonKey: keyOf(id) } : {}) });
    }
    await boss.insert(keys ? "keyed" : queue, jobs);
  }
  answer(tasks);
  await boss.stop({ graceful: false });
}

async function drain() {
  const boss = await start({ migrate: false });
  await go();
  for (;;) {
    const jobs = await boss.fetch(queue, { batchSize: 1000 });
    if (!jobs || jobs.length === 0) break;
    for (const job of jobs) read(job.data);
    await boss.complete(queue, jobs.map((job) => job.id));
  }
  answer(count());
  await boss.stop({ graceful: false });
}

/** Two workers; it ends when so many tasks were handled in this process. */
async function work(tasks) {
  const boss = await start({ migrate: false });
  await go();
  await boss.work(
    queue,
    { batchSize: 1000, localConcurrency: 2, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
    async (jobs) => {
      for (const job of jobs) read(job.data);
    },
  );
  for (;;) {
    await sleep(2);
    if (count() < tasks) continue;
    const rows = await boss.getDb().executeSql(
      "select 1 from pgboss.job where name = $1 and state < 'completed' limit 1", [queue]);
    if (rows.rows.length === 0) break;
  }
  answer(count());
  await boss.stop({ graceful: false });
}

async function delay(samples, gap) {
  const boss = await start({ migrate: false, useListenNotify: true });
  const delays = [];
  const options = { batchSize: 100, pollingIntervalSeconds: 0.5 };
  await boss.work("probe", options, async (jobs) => {
    const begun = now();
    for (const job of jobs) delays.push(begun - job.data.at);
  });
  await boss.send("probe", { at: now() });
  while (delays.length < 1) await sleep(10);
  await sleep(1000);
  delays.length = 0;
  await go();
  for await (const _ of moments(samples, gap)) await boss.send("probe", { at: now() });
  while (delays.length < samples) await sleep(5);
  answer(...quantiles(delays));
  await boss.stop({ graceful: false });
}

async function idle() {
  const boss = await start({ migrate: false });
  await boss.work(queue, { batchSize: 1000, pollingIntervalSeconds: 0.5 }, async () => {});
  await sleep(1000);
  await go();
  answer(0);
  await boss.stop({ graceful: false });
}

if (verb === "setup") {
  const boss = await start();
  await boss.createQueue(queue);
  await boss.createQueue("keyed", { policy: "short" });
  await boss.createQueue("probe", { notify: true });
  await go();
  answer(0);
  await boss.stop({ graceful: false });
} else if (verb === "unique") await add(first, 1000, true);
else if (verb === "import") await add(first, 10000, false);
else if (verb === "drain") await drain();
else if (verb === "work") await work(first);
else if (verb === "delay") await delay(first, second);
else if (verb === "idle") await idle();
else throw new Error(`unknown: ${verb}`);
process.exit(0);
