// cron-parser's ticks, in the form of cron_ticks.cpp.
import { createInterface } from "node:readline";
import { CronExpressionParser } from "cron-parser";

for await (const line of createInterface({ input: process.stdin })) {
  const [expression, zone, after, count] = line.split("|");
  try {
    const cron = CronExpressionParser.parse(expression, {
      tz: zone,
      currentDate: new Date(Number(after) * 1000),
    });
    const ticks = [];
    for (let i = 0; i < Number(count); ++i) ticks.push(Math.floor(cron.next().getTime() / 1000));
    console.log(ticks.join(" "));
  } catch (error) {
    console.log("refused " + String(error.message).replaceAll("\n", " "));
  }
}
