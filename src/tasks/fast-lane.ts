/** Handlers of the fast lane's functions, which run the tasks' entry points next to this file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Invocation, type TaskEvent, TaskFunction } from '#adapters/aws/task-function.ts';
import type { SandboxGrants } from '#adapters/processes/sandbox.ts';

/** Folder into which Lambda unpacks the code. */
const LAMBDA_ROOT = '/var/task';

/** In Lambda /tmp belongs to the function; on any other host it belongs to others too. */
const temporary = import.meta.dirname === LAMBDA_ROOT ? '/tmp' : ownFolder();

function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-fast-lane-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// biome-ignore lint/style/noProcessEnv: the function's own environment, of which a task gets selected variables
const environment = process.env;

const functionOf = (name: string, sandbox?: SandboxGrants) =>
  new TaskFunction({
    environment,
    temporary,
    ...(sandbox && { sandbox }),
    // The same address in the sources and in the bundle.
    entry: fileURLToPath(import.meta.url.replace(/fast-lane(\.\w+)$/, `${name}$1`)),
    // The lines of tasks are complete log records; console.log would wrap them in others.
    onOutput: (line) => process.stdout.write(`${line}\n`),
  });

const { OBJECTS_DIRECTORY: objects } = environment;
const backtests = functionOf('backtest', { write: objects ? [objects] : [] });
const collections = functionOf('collect');

/** Runs a backtest. */
export const backtest = (event: TaskEvent, invocation: Invocation) => backtests.run(event, invocation);

/** Collects the candles of a job. */
export const collect = (event: TaskEvent, invocation: Invocation) => collections.run(event, invocation);
