import { readFileSync } from 'node:fs';
import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { StateMachine } from 'aws-local-stepfunctions';
import type { ExecutionState, Executions } from '#domain/jobs/execution-ports.ts';
import type { SandboxGrants } from '../processes/sandbox.ts';
import type { TaskExit, TaskHost } from '../processes/task-runner.ts';

/** Error of a handler, with the ASL error name that Retry and Catch match. */
class TaskFailure extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** Runs one service integration with the resolved Parameters of the state. The signal fires on stop and on time-out. */
export type Integration = (parameters: never, signal: AbortSignal) => Promise<unknown>;

/** JSON value: the library does not export its type. */
type Json = Parameters<StateMachine['run']>[0];

export interface ExecutionHandle {
  /** Resolves with the output; rejects with an error named as in ASL. */
  readonly result: Promise<unknown>;
  readonly abort: (reason: string) => void;
}

interface State {
  readonly Type: string;
  readonly Resource?: string;
  readonly TimeoutSeconds?: number;
  readonly Retry?: readonly unknown[];
  /** Index of the iteration of a Map. */
  readonly ItemProcessor?: Definition;
}

interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

/** Replaces every backoff and Wait: these cover outages of remote services, which local mode does not use. */
const LOCAL_BACKOFF_MS = 250;

/**
 * Runs the deployed state machine file with the embedded interpreter. Differences of the interpreter:
 * - It ignores JSONata and variables; the constructor rejects them.
 * - It calls Lambda for a Task without a handler; the constructor rejects such a Task.
 * - It does not stop a handler after an abort or time-out; each handler gets a signal.
 */
export class LocalStateMachine {
  readonly #definition: Definition;
  readonly #machine: StateMachine;
  readonly #integrations: Readonly<Record<string, Integration>>;

  /** Throws when the definition uses JSONata or variables, or names a resource without an integration. */
  constructor(
    file: string | URL,
    substitutions: Readonly<Record<string, string>>,
    integrations: Readonly<Record<string, Integration>>,
  ) {
    const text = substitute(readFileSync(file, 'utf8'), substitutions);
    this.#definition = JSON.parse(text);
    this.#integrations = integrations;
    this.#check(text);
    // Tests validate the files; validation here would take a third of the start.
    this.#machine = new StateMachine(JSON.parse(text), { validationOptions: { noValidate: true } });
  }

  /** Starts an execution; `name` is the value of `$$.Execution.Name`. */
  start(name: string, input: unknown): ExecutionHandle {
    const stop = new AbortController();
    const execution = this.#machine.run(input as Json, {
      context: {
        Execution: { Name: name, Input: input as Json, StartTime: new Date().toISOString() },
        // The getter runs when a state resolves its parameters, that is when it is entered.
        State: {
          get EnteredTime() {
            return new Date().toISOString();
          },
        },
      },
      overrides: {
        taskResourceLocalHandlers: this.#handlers(stop.signal),
        retryIntervalOverrides: this.#pauses((state) => state.Retry !== undefined),
        waitTimeOverrides: this.#pauses((state) => state.Type === 'Wait'),
      },
    });
    return {
      result: execution.result,
      abort: (reason) => {
        stop.abort(new TaskFailure('States.TaskFailed', reason));
        execution.abort();
      },
    };
  }

  #check(text: string): void {
    if (/"QueryLanguage"\s*:\s*"JSONata"|"Assign"\s*:/.test(text)) {
      throw new Error(
        'The state machine uses JSONata or variables, which the embedded interpreter ignores. Use JSONPath without Assign',
      );
    }
    for (const [name, state] of this.#tasks()) {
      if (!state.Resource || !Object.hasOwn(this.#integrations, state.Resource)) {
        throw new Error(`State ${name} uses ${state.Resource}, which has no local integration`);
      }
    }
  }

  #tasks(): [string, State][] {
    return statesOf(this.#definition).filter(([, state]) => state.Type === 'Task');
  }

  #handlers(stopped: AbortSignal) {
    return Object.fromEntries(
      this.#tasks().map(([name, state]) => [
        name,
        async (parameters: unknown) => {
          const signal = state.TimeoutSeconds
            ? AbortSignal.any([stopped, AbortSignal.timeout(state.TimeoutSeconds * 1000)])
            : stopped;
          // The state machine file defines the parameters; each integration declares those it reads.
          return (await this.#integrations[state.Resource!]!(parameters as never, signal)) as Json;
        },
      ]),
    );
  }

  #pauses(pausing: (state: State) => boolean): Record<string, number> {
    const paused = statesOf(this.#definition).filter(([, state]) => pausing(state));
    return Object.fromEntries(paused.map(([name]) => [name, LOCAL_BACKOFF_MS]));
  }
}

/** All states, including those inside Maps; names are unique across both. */
function statesOf({ States }: Definition): [string, State][] {
  return Object.entries(States).flatMap(([name, state]) => [
    [name, state] as [string, State],
    ...(state.ItemProcessor ? statesOf(state.ItemProcessor) : []),
  ]);
}

function substitute(text: string, substitutions: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_, key: string) => {
    const value = substitutions[key];
    if (value === undefined) throw new Error(`The state machine file needs a value for \${${key}}`);
    return JSON.stringify(value).slice(1, -1);
  });
}

interface Execution {
  readonly handle: ExecutionHandle;
  state: ExecutionState;
}

/** Number of ended executions whose state is kept; Step Functions keeps them for 90 days. */
const KEPT_ENDED = 1_000;

/** Executions of one state machine in this process: local mode's Step Functions. */
export class LocalExecutions<Input extends { readonly job_id: string }> implements Executions<Input> {
  readonly #machine: LocalStateMachine;
  readonly #executions = new Map<string, Execution>();
  readonly #onEnd: (name: string, state: ExecutionState, error: unknown) => void;

  /** `onEnd` is called for every ended execution, as EventBridge invokes repair in AWS. */
  constructor(
    machine: LocalStateMachine,
    onEnd: (name: string, state: ExecutionState, error: unknown) => void,
  ) {
    this.#machine = machine;
    this.#onEnd = onEnd;
  }

  async start(input: Input, name: string): Promise<void> {
    if (this.#executions.has(name)) return;
    const execution: Execution = {
      handle: this.#machine.start(name, input),
      state: { status: 'running' },
    };
    this.#executions.set(name, execution);
    execution.handle.result.then(
      () => this.#end(name, execution, { status: 'succeeded' }),
      (error: unknown) => this.#end(name, execution, endedBy(error), error),
    );
  }

  async stop(name: string, cause: string): Promise<void> {
    const execution = this.#executions.get(name);
    if (execution?.state.status === 'running') execution.handle.abort(cause);
  }

  async state(name: string): Promise<ExecutionState | undefined> {
    return this.#executions.get(name)?.state;
  }

  async running(): Promise<ReadonlySet<string>> {
    const running = [...this.#executions].filter(([, { state }]) => state.status === 'running');
    return new Set(running.map(([name]) => name));
  }

  /** Stops every running execution without calling `onEnd`: the platform stops, and its jobs resume at the next start. */
  stopAll(): void {
    for (const execution of this.#executions.values()) {
      if (execution.state.status !== 'running') continue;
      execution.state = { status: 'aborted' };
      execution.handle.abort('The platform is stopping');
    }
  }

  #end(name: string, execution: Execution, state: ExecutionState, error?: unknown): void {
    if (execution.state.status !== 'running') return;
    execution.state = state;
    this.#forgetOldest();
    this.#onEnd(name, state, error);
  }

  #forgetOldest(): void {
    const ended = [...this.#executions].filter(([, each]) => each.state.status !== 'running');
    for (const [jobId] of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) {
      this.#executions.delete(jobId);
    }
  }
}

function endedBy(error: unknown): ExecutionState {
  const name = error instanceof Error ? error.name : '';
  if (name === 'ExecutionAbortedError') return { status: 'aborted' };
  return { status: /Timeout/i.test(name) ? 'timed_out' : 'failed' };
}

interface InvokeParameters {
  readonly FunctionName: string;
  readonly Payload: unknown;
}

interface RunTaskParameters {
  readonly TaskDefinition: string;
  readonly Overrides?: {
    readonly ContainerOverrides?: readonly {
      readonly Environment?: readonly { readonly Name: string; readonly Value: string }[];
    }[];
  };
}

interface LocalTask {
  /** Path of the file that Node runs, asked for each run. */
  readonly entry: () => string;
  readonly runner: Pick<TaskHost, 'run'>;
  /** Permissions for a job, if the task runs strategy code. */
  readonly sandbox?: (jobId: string) => SandboxGrants;
}

export interface IntegrationDeps {
  /** Functions by the name in the substitutions. */
  readonly functions: Readonly<Record<string, (payload: never, signal: AbortSignal) => Promise<unknown>>>;
  /** Entry points of tasks and their runners, by the name of the definition in the substitutions. */
  readonly tasks: Readonly<Record<string, LocalTask>>;
  /** Fails the job of a task, with the reason. */
  readonly failJob: (jobId: string, reason: string) => Promise<void>;
  readonly dynamo: DynamoDBDocumentClient;
}

/** Local implementations of the integrations, by Resource, with the same Parameters as in AWS. */
export function localIntegrations(deps: IntegrationDeps): Record<string, Integration> {
  return {
    'arn:aws:states:::lambda:invoke': (parameters, signal) => invoke(deps, parameters, signal),
    'arn:aws:states:::ecs:runTask.sync': (parameters, signal) => runTask(deps, parameters, signal),
    'arn:aws:states:::dynamodb:updateItem': (parameters) => updateItem(deps.dynamo, parameters),
  };
}

async function invoke(deps: IntegrationDeps, parameters: InvokeParameters, signal: AbortSignal) {
  const handler = deps.functions[parameters.FunctionName];
  if (!handler) throw new TaskFailure('Lambda.ResourceNotFoundException', parameters.FunctionName);
  // As in Lambda, each function declares its payload.
  const payload = await handler(parameters.Payload as never, signal);
  // Serialized as in Lambda: only JSON values remain.
  return { StatusCode: 200, Payload: JSON.parse(JSON.stringify(payload ?? null)) };
}

async function runTask(deps: IntegrationDeps, parameters: RunTaskParameters, signal: AbortSignal) {
  const task = deps.tasks[parameters.TaskDefinition];
  if (!task) throw new TaskFailure('ECS.ClientException', `No task ${parameters.TaskDefinition}`);
  const overrides = parameters.Overrides?.ContainerOverrides?.flatMap((each) => each.Environment ?? []) ?? [];
  const environment = Object.fromEntries(overrides.map(({ Name, Value }) => [Name, Value]));
  const jobId = environment.JOB_ID ?? '';
  const sandbox = task.sandbox?.(jobId);
  const exit = await task.runner.run({ entry: task.entry(), environment, sandbox, signal });
  if (exit.final) {
    await deps.failJob(jobId, exit.final);
    return { LastStatus: 'STOPPED', Containers: [{ ExitCode: 0 }] };
  }
  if (exit.code !== 0) throw new TaskFailure('States.TaskFailed', describeExit(exit));
  return { LastStatus: 'STOPPED', Containers: [{ ExitCode: 0 }] };
}

/** Node aborts with SIGABRT (134) when its heap is full; the kernel's out-of-memory killer sends SIGKILL (137). */
function describeExit({ code, signal, stderr }: TaskExit): string {
  if (signal === 'SIGABRT' || code === 134 || /heap out of memory/.test(stderr))
    return 'The task ran out of memory';
  if (signal) return `The task was ended by ${signal}`;
  return `The task ended with exit code ${code}`;
}

async function updateItem(client: DynamoDBDocumentClient, parameters: UpdateItemCommandInput) {
  try {
    await client.send(new UpdateItemCommand(parameters));
    return {};
  } catch (error) {
    const name = error instanceof Error ? error.name : 'Error';
    throw new TaskFailure(`DynamoDB.${name}`, String(error));
  }
}
