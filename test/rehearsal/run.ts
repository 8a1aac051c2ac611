/** Rehearses deployment and operation of a stage in an emulator of AWS: `npm run rehearse`. */
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { STAGE_NAMES } from '#lib/settings/config.ts';
import { missingForEmulator, startEmulator } from './emulator.ts';
import { bundles } from './parts/bundles.ts';
import { change } from './parts/change.ts';
import { deploy } from './parts/deploy.ts';
import { destroy } from './parts/destroy.ts';
import { dynamodb } from './parts/dynamodb.ts';
import { machines } from './parts/machines.ts';
import { region } from './parts/region.ts';
import { restore } from './parts/restore.ts';
import { endProcesses } from './processes.ts';
import { type Part, Rehearsal, type Row } from './rehearsal.ts';

const PARTS: readonly Part[] = [deploy, bundles, change, restore, destroy, machines, dynamodb, region];
const NAMES = PARTS.map(({ name }) => name);

const USAGE = `npm run rehearse -- [--stage <name>] [--only <part,…>] [--minutes <n>] [--complete]
npm run rehearse -- --serve [--port <n>]
  --stage    ${STAGE_NAMES.join(', ')}; default dev
  --only     parts: ${NAMES.join(', ')}; default all
  --minutes  time limit; default 15
  --complete exit with 3 if nothing failed, but this machine lacks what a part needs
  --serve    run the emulator alone, an empty account on loopback, until Ctrl-C
  --port     port of --serve; default 5000`;

const { values } = parseArgs({
  options: {
    stage: { type: 'string', default: 'dev' },
    only: { type: 'string', default: NAMES.join(',') },
    minutes: { type: 'string', default: '15' },
    complete: { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
    port: { type: 'string', default: '5000' },
    help: { type: 'boolean', default: false },
  },
});
const only = values.only.split(',');
const [minutes, port] = [values.minutes, values.port].map(Number) as [number, number];
const isWrong =
  !STAGE_NAMES.some((name) => name === values.stage) ||
  only.some((name) => !NAMES.includes(name)) ||
  !(minutes > 0) ||
  !(Number.isInteger(port) && port >= 0 && port < 65_536);
if (values.help || isWrong) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

if (values.serve) await serve();
else await rehearse();

/** Runs the emulator until the process is told to end. */
async function serve(): Promise<void> {
  const reason = missingForEmulator();
  if (reason) {
    console.error(`The emulator cannot run here. ${reason}`);
    process.exit(1);
  }
  const interrupted = interruption();
  const emulator = await Promise.race([interrupted, startEmulator({ port })]).catch((error: Error) => error);
  if (typeof emulator === 'string' || emulator instanceof Error) {
    if (emulator instanceof Error) console.error(emulator.message);
    endProcesses();
    process.exit(emulator instanceof Error ? 1 : 0);
  }
  const { env } = emulator;
  console.log('An empty account. In another terminal:\n');
  for (const [name, value] of Object.entries(env)) console.log(`export ${name}=${value}`);
  console.log('export CDK_DOCKER=true\n\nCtrl-C ends the emulator and its state.');
  const stopped = await Promise.race([interrupted, emulator.ended]);
  await emulator.stop();
  if (stopped) process.exit();
  console.error('The emulator ended by itself.');
  process.exit(1);
}

async function rehearse(): Promise<void> {
  const started = performance.now();
  const end = new AbortController();
  const over = (why: string) => end.abort(new Error(why));
  const limit = minutes * 60_000;
  setTimeout(() => over(`the limit of ${minutes} minutes is reached; see --minutes and --only`), limit);
  interruption().then((signal) => {
    over(`interrupted by ${signal}`);
    process.exitCode = 128 + constants.signals[signal];
  });
  const rehearsal = new Rehearsal(values.stage, { deadline: started + limit, signal: end.signal }, print);
  for (const part of PARTS.filter(({ name }) => only.includes(name))) await rehearsal.run(part);
  await rehearsal.close();
  summarize(rehearsal.rows, (performance.now() - started) / 1000);
  process.exit();
}

/** The signal that asks this process to end. A second one ends it at once. */
function interruption(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
}

/** Progress. A failure is printed in full; the table has its first line. */
function print({ what, result, detail, seconds }: Row): void {
  console.log(
    `${result.padEnd(8)} ${what} (${seconds.toFixed(1)} s)${result === 'failed' ? `\n${detail}` : ''}`,
  );
}

function summarize(rows: readonly Row[], seconds: number): void {
  const table = new Table({
    head: ['part', 'rehearsed', 'result', 'detail', 's'],
    style: { head: [], border: [] },
    colWidths: [10, 32, 9, 60, 7],
    wordWrap: true,
  });
  for (const row of rows) {
    const detail = row.detail.split('\n')[0]!.slice(0, 300);
    table.push([row.part, row.what, row.result, detail, row.seconds > 0 ? row.seconds.toFixed(1) : '']);
  }
  console.log(table.toString());
  const count = (wanted: Row['result']) => rows.filter(({ result }) => result === wanted).length;
  console.log(
    'skipped: the emulator cannot show it. missing: this machine lacks what it needs. not run: no time was left.',
  );
  console.log(
    `${count('ok')} ok, ${count('failed')} failed, ${count('skipped')} skipped, ${count('missing')} missing, ${count('not run')} not run in ${seconds.toFixed(0)} s`,
  );
  const isVoid = count('ok') === 0 && count('not run') > 0;
  if (count('failed') > 0 || isVoid) process.exitCode ??= 1;
  if (values.complete && count('missing') + count('not run') > 0) process.exitCode ??= 3;
}
