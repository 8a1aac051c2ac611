import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild, type Metafile } from 'esbuild';
import { BUNDLE_OPTIONS, build } from '../bin/build/build.ts';
import { BACKEND_ENVIRONMENT, SCHEDULES } from '../test/support/lambda-environment.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { runFresh } from './support/fresh-process.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const RUNS = scaled(21);
/** Largest import time of a service, as a multiple of the document client's. */
const MAX_RATIO = 1.5;
/** Script that prints the processor time of its main thread for the import of its argument, ms. */
const PROBE = `
import { pathToFileURL } from 'node:url';
const url = pathToFileURL(process.argv[1]).href;
const before = process.threadCpuUsage();
await import(url);
const { user, system } = process.threadCpuUsage(before);
console.log((user + system) / 1000);
process.exit();
`;

/** Environment variables that the services' modules need to load. */
const ENVIRONMENT = {
  ...BACKEND_ENVIRONMENT,
  ...SCHEDULES,
  HYPEROPT_STATE_MACHINE_ARN: 'arn:aws:states:us-east-1:123456789012:stateMachine:hyperopt',
};

const DOCUMENT_CLIENT = `
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
export const handler = async () => client.config.region();
`;

const EMPTY = 'export const handler = async () => {};';

async function bundle(contents: string, outfile: string): Promise<string> {
  const { outExtension: _, ...options } = BUNDLE_OPTIONS;
  await esbuild({ ...options, stdin: { contents, resolveDir: options.absWorkingDir }, outfile });
  return outfile;
}

/** Median processor time of the import of each file, ms. The files take turns. */
async function importTimes(files: readonly string[]): Promise<number[]> {
  const times = files.map((): number[] => []);
  for (let run = -1; run < RUNS; run++) {
    for (const [index, file] of files.entries()) {
      const { output } = await runFresh(['--input-type=module', '--eval', PROBE, file], ENVIRONMENT);
      if (run >= 0) times[index]!.push(Number(output));
    }
  }
  return times.map(median);
}

/** Size of a function's files: all, and those that its start loads, KB. */
function sizes({ outputs }: Metafile, name: string): { all: number; start: number } {
  const files = Object.keys(outputs).filter((path) => path.includes(`/lambdas/${name}/`));
  const start = new Set(files.filter((path) => path.endsWith('/index.mjs')));
  for (const path of start) {
    for (const { path: imported, kind, external } of outputs[path]!.imports)
      if (!external && kind !== 'dynamic-import') start.add(imported);
  }
  const sum = (paths: Iterable<string>) =>
    [...paths]
      .filter((path) => path.endsWith('.mjs'))
      .reduce((kb, path) => kb + outputs[path]!.bytes / 1000, 0);
  return { all: sum(files), start: sum(start) };
}

export default {
  name: 'bundle',
  description: `Import of the services' bundles in a fresh process: processor time of the main thread, compared with two other bundles (medians of ${RUNS}, in turns)`,
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    try {
      const metafile = await build(folder);
      const services = ['backend', 'strategy'];
      const [client, empty, ...imports] = await importTimes([
        await bundle(DOCUMENT_CLIENT, join(folder, 'client.mjs')),
        await bundle(EMPTY, join(folder, 'empty.mjs')),
        ...services.map((name) => join(folder, 'lambdas', name, 'index.mjs')),
      ]);
      const ms = (value: number) => `${value.toFixed(1)} ms`;
      return services.map((name, index): Measurement => {
        const { all, start } = sizes(metafile, name);
        const files = `${start.toFixed(0)} of ${all.toFixed(0)} KB at the start`;
        return {
          label: `${name}, import`,
          value: imports[index]! / client!,
          unit: "of the document client's",
          target: { atMost: MAX_RATIO },
          detail: `${ms(imports[index]!)}, document client ${ms(client!)}, empty handler ${ms(empty!)}; ${files}`,
        };
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
