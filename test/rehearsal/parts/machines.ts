import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type RecordedRun, readDefinition } from '../../support/run-asl.ts';
import { runCommand } from '../cdk.ts';
import { type Emulator, missingForEmulator, postJson } from '../emulator.ts';
import type { Part } from '../rehearsal.ts';
import { failOn } from '../verify/resources.ts';
import { transitionsOf, transitionsTaken } from '../verify/transitions.ts';

const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'statemachines');

/** A run in the other interpreter; see emulator/scenarios.py. */
interface Replayed {
  readonly status: string;
  readonly error: string | null;
  readonly path: readonly string[];
  readonly calls: readonly { readonly state: string; readonly parameters: unknown }[];
  readonly uncalled: readonly string[];
}

/** Repeats every run of test/statemachines in moto's interpreter, and compares states, calls and ends. */
export const machines: Part = {
  name: 'machines',
  title: 'scenarios of the state machines',
  missing: missingForEmulator,
  seconds: 45,
  run: async (rehearsal) => {
    let runs: readonly RecordedRun[] = [];
    /** Paths by state machine. */
    const taken = new Map<string, (readonly string[])[]>();
    await rehearsal.check('scenarios in aws-local-stepfunctions', async () => {
      runs = await recordedRuns();
      return `${runs.length} runs of test/statemachines`;
    });
    await rehearsal.verify('scenarios in the interpreter of moto', async () => {
      const emulator = await rehearsal.emulator();
      const problems: string[] = [];
      for (const run of runs) {
        const replayed = await replay(emulator, run);
        problems.push(...differences(run, replayed));
        taken.set(run.machine, [...(taken.get(run.machine) ?? []), replayed.path]);
      }
      failOn(problems);
      return `${runs.length} runs with equal states, calls and ends`;
    });
    await rehearsal.verify('transitions of the state machines', () => coverage(taken));
  },
};

/** Runs the tests with the embedded interpreter, which record their scenarios. */
async function recordedRuns(): Promise<readonly RecordedRun[]> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-scenarios-'));
  const file = join(folder, 'runs.jsonl');
  try {
    const args = ['run', 'test/statemachines'];
    const { status, text } = await runCommand('vitest', args, { ASL_RECORDING: file });
    if (status !== 0) throw new Error(`vitest ${args.join(' ')} ended with ${status}:\n${text.slice(-2000)}`);
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function replay(emulator: Emulator, { machine, execution, input, calls }: RecordedRun): Promise<Replayed> {
  const definition = JSON.stringify(definitionOf(machine));
  return postJson(emulator, '/moto-api/rehearsal/scenario', { definition, execution, input, calls });
}

const definitionOf = (machine: string) => readDefinition(new URL(`file://${FOLDER}/${machine}.asl.json`));

function differences(run: RecordedRun, { status, path, calls, uncalled }: Replayed): string[] {
  // The embedded interpreter reports the states within a Map late or not at all; their calls are complete.
  const top = new Set(Object.keys(definitionOf(run.machine).States));
  const outer = (states: readonly string[]) => states.filter((state) => top.has(state));
  const expected = {
    status: run.failure === undefined ? 'SUCCEEDED' : 'FAILED',
    path: outer(run.path),
    calls: sortedCalls(run.calls),
    uncalled: [] as readonly string[],
  };
  const actual = { status, path: outer(path), calls: sortedCalls(calls), uncalled };
  return (Object.keys(expected) as (keyof typeof expected)[])
    .filter((key) => !isDeepStrictEqual(actual[key], expected[key]))
    .map((key) => {
      const [is, instead] = [actual, expected].map((each) => JSON.stringify(each[key]));
      return `${run.machine} ${expected.path.join(' > ')}: ${key} is ${is} instead of ${instead}`;
    });
}

/** The calls as text, without the time of entry, which only the embedded interpreter is given. */
function sortedCalls(calls: readonly { readonly state: string; readonly parameters: unknown }[]): string[] {
  return calls
    .map(({ state, parameters }) => `${state} ${JSON.stringify(parameters, sortKeys)}`)
    .map((text) => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)/g, 'TIME'))
    .sort();
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)));
}

/** State that follows when a Map fails by itself, not by an answer of a task: its results exceed 256 KB. */
const OVERSIZED = 'WorkersFailed';

/** Fails for a transition that no scenario takes. */
function coverage(paths: ReadonlyMap<string, readonly (readonly string[])[]>): string {
  let count = 0;
  const problems: string[] = [];
  for (const [machine, ofMachine] of paths) {
    const all = transitionsOf(definitionOf(machine));
    const taken = transitionsTaken(all, ofMachine);
    const missed = all.filter(
      ({ from, to }) => ![from, to].includes(OVERSIZED) && !taken.has(`${from} > ${to}`),
    );
    count += all.length;
    problems.push(...missed.map(({ from, to }) => `${machine}: no scenario goes from ${from} to ${to}`));
  }
  failOn(problems);
  return `each of ${count} is taken by a scenario, except those of ${OVERSIZED}`;
}
