import { appendFileSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { StateMachine } from 'aws-local-stepfunctions';

type JsonValue = Parameters<StateMachine['run']>[0];

export const BACKTEST_ASL = new URL('../../statemachines/backtest.asl.json', import.meta.url);
export const HYPEROPT_ASL = new URL('../../statemachines/hyperopt.asl.json', import.meta.url);

interface Retrier {
  readonly ErrorEquals: readonly string[];
  readonly MaxAttempts: number;
  readonly IntervalSeconds?: number;
  readonly BackoffRate?: number;
}

/** Parameters of a task that the tests read. */
interface TaskParameters {
  readonly CapacityProviderStrategy?: unknown;
  readonly TaskDefinition?: string;
  readonly Overrides?: {
    readonly ContainerOverrides: readonly { readonly Environment: readonly { readonly Name: string }[] }[];
  };
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S: string }>>;
}

interface State {
  readonly Type: string;
  readonly Comment?: string;
  readonly Resource?: string;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly Retrier[];
  readonly Catch?: readonly unknown[];
  readonly Parameters?: TaskParameters;
  /** Set for Map states. */
  readonly ItemProcessor?: Pick<Definition, 'States'>;
}

export interface Definition {
  readonly TimeoutSeconds: number;
  readonly States: Readonly<Record<string, State>>;
}

/** Behaviour of a fake task: `fail` throws an error with its name in the service. */
export type Step = (parameters: TaskParameters) => unknown;

export function fail(name: string, cause = 'because'): never {
  throw Object.assign(new Error(cause), { name });
}

/** All states with their names, including those within Maps. */
export function allStates({ States }: Pick<Definition, 'States'>): [string, State][] {
  return Object.entries(States).flatMap(([name, state]) => [
    [name, state] as [string, State],
    ...(state.ItemProcessor ? allStates(state.ItemProcessor) : []),
  ]);
}

/** Replaces every `${Name}` by its name. */
export function readDefinition(file: URL): Definition {
  return JSON.parse(readFileSync(file, 'utf8').replaceAll(/\$\{(\w+)\}/g, '$1'));
}

export interface AslRun {
  /** Entered states in order; a retried state occurs once. */
  readonly path: readonly string[];
  /** Parameters of every call of a task, in order. */
  readonly calls: readonly { readonly state: string; readonly parameters: TaskParameters }[];
  readonly failure: string | undefined;
}

const machines = new Map<string, { readonly definition: Definition; readonly machine: StateMachine }>();

/** Machine of a file, read and validated once: validation takes longer than a run. */
function machineOf(file: URL) {
  const known = machines.get(file.href);
  if (known) return known;
  const definition = readDefinition(file);
  const made = {
    definition,
    machine: new StateMachine(definition as never, { validationOptions: { checkArn: false } }),
  };
  machines.set(file.href, made);
  return made;
}

/** Runs a definition with fake tasks and without waiting. A task without a fake fails the run. */
export async function runAsl(
  file: URL,
  input: unknown,
  steps: Readonly<Record<string, Step>>,
  executionName = 'bt-01J-1',
): Promise<AslRun> {
  const { definition, machine } = machineOf(file);
  const calls: RecordedCall[] = [];
  const ofType = (type: string) =>
    allStates(definition).flatMap(([name, state]) => (state.Type === type ? [name] : []));
  const tasks = ofType('Task');
  const handlers = Object.fromEntries(
    tasks.map((state) => [
      state,
      async (parameters: JsonValue) => {
        const call: RecordedCall = { state, parameters: parameters as TaskParameters };
        calls.push(call);
        const step = steps[state] ?? (() => fail('NoFake', `${state} was not expected`));
        try {
          const value = (await step(parameters as TaskParameters)) ?? {};
          call.outcome = { value };
          return value as never;
        } catch (error) {
          const { name, message } = error as Error;
          call.outcome = { error: { name, cause: message } };
          throw error;
        }
      },
    ]),
  );
  const execution = machine.run(input as never, {
    context: {
      Execution: { Name: executionName },
      State: { EnteredTime: '2026-01-02T03:04:05.678Z' },
    } as never,
    overrides: {
      taskResourceLocalHandlers: handlers,
      retryIntervalOverrides: Object.fromEntries(tasks.map((name) => [name, 0])),
      waitTimeOverrides: Object.fromEntries(ofType('Wait').map((name) => [name, 0])),
    },
  });
  const [path, failure] = await Promise.all([
    statesOf(execution.eventLogs),
    execution.result.then(
      () => undefined,
      (error: Error) => error.message,
    ),
  ]);
  record({
    machine: basename(file.pathname, '.asl.json'),
    execution: executionName,
    input,
    calls,
    path,
    failure,
  });
  return { path, calls, failure };
}

interface RecordedCall {
  readonly state: string;
  readonly parameters: TaskParameters;
  /** Absent: the execution ended before the task did. */
  outcome?:
    | { readonly value: unknown }
    | { readonly error: { readonly name: string; readonly cause: string } };
}

/** A run with the answers of its tasks, from which another interpreter can repeat it. */
export interface RecordedRun {
  /** Name of the definition's file, without its extension. */
  readonly machine: string;
  readonly execution: string;
  readonly input: unknown;
  readonly calls: readonly RecordedCall[];
  readonly path: readonly string[];
  readonly failure: string | undefined;
}

/** Adds a run to the file that ASL_RECORDING names, one JSON per line: `npm run rehearse` repeats it. */
function record(run: RecordedRun): void {
  const file = process.env.ASL_RECORDING;
  if (file) appendFileSync(file, `${JSON.stringify(run)}\n`);
}

async function statesOf(events: ReturnType<StateMachine['run']>['eventLogs']): Promise<string[]> {
  const path: string[] = [];
  for await (const event of events) {
    if (event.type.endsWith('StateEntered') && 'state' in event) path.push(event.state.name);
  }
  return path;
}
