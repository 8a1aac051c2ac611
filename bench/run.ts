import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import Table from 'cli-table3';
import type { Bench, Measurement } from './support/bench.ts';

const FOLDER = import.meta.dirname;
/** Runs each benchmark once, as small as it can be, to show that it runs: its values say nothing. */
const QUICK = '--quick';

/** Names of the benchmarks: every other file of this folder. */
function benchNames(): string[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => basename(file, '.ts'))
    .filter((name) => name !== 'run')
    .sort();
}

/** Runs one benchmark in its own process, so that it does not inherit compiled code or heap from another. */
function runBench(name: string): Promise<Measurement[]> {
  return new Promise((resolve, reject) => {
    const child = fork(join(FOLDER, 'support', 'child.ts'), [name], { execArgv: ['--expose-gc'] });
    let measurements: Measurement[] | undefined;
    child.on('message', (message) => {
      measurements = message as Measurement[];
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (measurements) resolve(measurements);
      else
        reject(
          new Error(
            `Benchmark ${name} ended with code ${code} and without measurements. See its output above.`,
          ),
        );
    });
  });
}

function goal({ target, value }: Measurement): string[] {
  if (!target) return ['', ''];
  if ('atLeast' in target) return [`>= ${target.atLeast}`, value >= target.atLeast ? 'yes' : 'no'];
  return [`<= ${target.atMost}`, value <= target.atMost ? 'yes' : 'no'];
}

function toRow(bench: string, measurement: Measurement): string[] {
  const value = `${Number(measurement.value.toPrecision(3))} ${measurement.unit}`;
  return [bench, measurement.label, value, ...goal(measurement), measurement.detail ?? ''];
}

async function describe(name: string): Promise<Bench> {
  return (await import(join(FOLDER, `${name}.ts`))).default;
}

async function main(args: string[]): Promise<void> {
  const known = benchNames();
  const requested = args.filter((arg) => arg !== QUICK);
  const isQuick = requested.length < args.length;
  // Before the benchmarks are imported; a rival would only take time.
  if (isQuick) Object.assign(process.env, { BENCH_QUICK: '1', PYTHON: 'no-rival' });
  const unknown = requested.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`Unknown benchmark: ${unknown.join(', ')}. Use one of: ${known.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const table = new Table({
    head: ['bench', 'measurement', 'median', 'target', 'met', 'detail'],
    style: { head: [], border: [], compact: true },
  });
  for (const name of requested.length > 0 ? requested : known) {
    try {
      console.log(`${name}: ${(await describe(name)).description}`);
      for (const measurement of await runBench(name)) {
        const { target: _, ...withoutTarget } = measurement;
        table.push(toRow(name, isQuick ? withoutTarget : measurement));
      }
    } catch (error) {
      // Hours of other benchmarks must not be lost.
      console.error((error as Error).message);
      process.exitCode = 1;
    }
  }
  console.log(table.toString());
}

await main(process.argv.slice(2));
