// graphile-worker in its fastest documented preset: a local queue, completions sent together. And
// plain: one job after another, each by itself.
// Verbs: setup | singly N PRODUCERS | unique N | import N | drain | plain | delay SAMPLES GAP | idle
import { makeWorkerUtils, run, runOnce, Logger } from "graphile-worker";
import pg from "pg";
import { url, go, answer, now, keyOf, payloadOf, read, count, moments, quantiles, sleep }
  from "./common.mjs";

const logger = new Logger(() => () => {});
const preset = (size) => ({
  worker: {
    connectionString: url,
    concurrentJobs: 24,
    maxPoolSize: 25,
    logger,
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    ...(size > 0 ? { localQueue: { size } } : {}),
  },
});

const plain = { worker: { connectionString: url, concurrentJobs: 1, maxPoolSize: 3, logger } };

const [verb, ...numbers] = process.argv.slice(2);
const [first, second] = numbers.map(Number);

async function add(tasks, atOnce) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await go();
  for (let from = 1; from <= tasks; from += atOnce) {
    const jobs = [];
    for (let id = from; id < from + atOnce && id <= tasks; ++id) {
      jobs.push({ identifier: "task", payload: payloadOf(id), jobKey: keyOf(id) });
    }
    await utils.addJobs(jobs);
  }
  answer(tasks);
  await utils.release();
}

async function addSingly(tasks, producers) {
  const utils = await makeWorkerUtils({ connectionString: url, logger, maxPoolSize: producers });
  await go();
  let next = 1;
  const produce = async () => {
    for (let id = next++; id <= tasks; id = next++) {
      await utils.addJob("task", payloadOf(id), { jobKey: keyOf(id) });
    }
  };
  await Promise.all(Array.from({ length: producers }, produce));
  answer(tasks);
  await utils.release();
}

async function importAll(tasks) {
  // Its own performance test fills the queue by one call of add_jobs.
  const client = new pg.Client(url);
  await client.connect();
  await go();
  for (let from = 1; from <= tasks; from += 100000) {
    await client.query(
      `select 1 from graphile_worker.add_jobs(array(
         select json_populate_record(null::graphile_worker.job_spec, json_build_object(
           'identifier', 'task',
           'payload', json_build_object('task', 10000000000 + i,
             'to', 'Unter den Linden 77, 10117 Berlin', 'kind', 'invoice', 'n', 4)))
         from generate_series($1::bigint, $2::bigint) i))`,
      [from, Math.min(from + 99999, tasks)],
    );
  }
  answer(tasks);
  await client.end();
}

async function drain(how) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.withPgClient((client) => client.query("select 1"));
  await go();
  await runOnce({ preset: how, taskList: { task: read } });
  answer(count());
  await utils.release();
}

async function delay(samples, gap) {
  const delays = [];
  const runner = await run({
    preset: preset(0),
    taskList: { probe: ({ at }) => void delays.push(now() - at) },
  });
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.addJob("probe", { at: now() });
  while (delays.length < 1) await sleep(10);
  await sleep(300);
  delays.length = 0;
  await go();
  for await (const _ of moments(samples, gap)) await utils.addJob("probe", { at: now() });
  while (delays.length < samples) await sleep(5);
  answer(...quantiles(delays));
  await utils.release();
  await runner.stop();
}

async function idle() {
  const runner = await run({ preset: preset(500), taskList: { task: read } });
  await sleep(1000);
  await go();
  answer(0);
  await runner.stop();
}

if (verb === "setup") {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  await utils.release();
  await go();
  answer(0);
} else if (verb === "singly") await addSingly(first, second);
else if (verb === "unique") await add(first, 1000);
else if (verb === "import") await importAll(first);
else if (verb === "drain") await drain(preset(500));
else if (verb === "plain") await drain(plain);
else if (verb === "delay") await delay(first, second);
else if (verb === "idle") await idle();
else throw new Error(`unknown: ${verb}`);
process.exit(0);
