// croner's ticks, in the form of cron_ticks.cpp.
import { createInterface } from "node:readline";
import { Cron } from "croner";

for await (const line of createInterface({ input: process.stdin })) {
  const [expression, zone, after, count] = line.split("|");
  try {
    const cron = new Cron(expression, { timezone: zone, paused: true });
    const ticks = cron.nextRuns(Number(count), new Date(Number(after) * 1000));
    console.log(ticks.map((tick) => Math.floor(tick.getTime() / 1000)).join(" "));
  } catch (error) {
    console.log("refused " + String(error.message).replaceAll("\n", " "));
  }
}
