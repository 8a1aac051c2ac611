import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build as esbuild } from 'esbuild';
import { BUNDLE_OPTIONS, build } from '../bin/build.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { runFresh } from './support/fresh-process.ts';
import { median } from './support/measure.ts';

const RUNS = 21;
/** Script that prints the import time of its argument, ms. */
const PROBE = `
import { pathToFileURL } from 'node:url';
const url = pathToFileURL(process.argv[1]).href;
const started = performance.now();
await import(url);
console.log(performance.now() - started);
process.exit();
`;

/** Environment variables that the backend's module needs to load. */
const ENVIRONMENT = {
  AWS_REGION: 'eu-west-1',
  JOBS_TABLE: 'jobs',
  SERIES_TABLE: 'series',
  REGISTRY_TABLE: 'registry',
  RESULTS_BUCKET: 'results',
  CANDLES_BUCKET: 'candles',
  MAX_RUNNING_BACKTESTS: '10',
  MAX_RUNNING_HYPEROPTS: '2',
  BACKTEST_STATE_MACHINE_ARN: 'arn:aws:states:eu-west-1:123456789012:stateMachine:backtest',
  DATA_PROXY_FUNCTION: 'data-proxy',
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

/** Median import time of each file, ms. The files take turns. */
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

export default {
  name: 'bundle',
  description: `Size of the backend's bundle and its import time in a fresh process, compared with two other bundles (medians of ${RUNS}, in turns)`,
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    try {
      await build(folder);
      const files = {
        backend: join(folder, 'lambdas', 'backend', 'index.mjs'),
        'DynamoDB document client only': await bundle(DOCUMENT_CLIENT, join(folder, 'client.mjs')),
        'empty handler': await bundle(EMPTY, join(folder, 'empty.mjs')),
      };
      const times = await importTimes(Object.values(files));
      const measurements: Measurement[] = [];
      for (const [index, [label, file]] of Object.entries(files).entries()) {
        const size = (await stat(file)).size / 1000;
        if (label === 'backend') {
          measurements.push({ label: `${label}, size`, value: size, unit: 'KB', target: { atMost: 900 } });
        }
        measurements.push({
          label: `${label}, import`,
          value: times[index]!,
          unit: 'ms',
          detail: `${size.toFixed(0)} KB minified, ${(times[index]! / times[1]!).toFixed(2)} of the document client's time`,
        });
      }
      return measurements;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
