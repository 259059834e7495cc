#!/usr/bin/env node
// A Node job as one run, its commands as steps.
//
//   daybook run nightly --key "$(date +%F)" --once -- examples/nightly.mjs FOLDER
//
// If a step fails, or the run is lost, execFileSync throws and the job ends. Started again, it
// skips the finished steps.
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const folder = process.argv[2];
const daybook = (...words) =>
    execFileSync('daybook', words, {stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8'});

daybook('step', 'fetch', '--', 'cp', '/etc/os-release', join(folder, 'fetched'));
const lines = readFileSync(join(folder, 'fetched'), 'utf8').split('\n').sort();
writeFileSync(join(folder, 'sorted'), lines.join('\n'));
daybook('carry', 'set', 'lines', String(lines.length));
daybook('step', 'pack', '--', 'gzip', '-kf', join(folder, 'sorted'));
daybook('progress', '2/2', 'packed');
console.log(daybook('carry', 'get', 'lines').trim());
