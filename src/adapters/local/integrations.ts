import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { SandboxGrants } from './sandbox.ts';
import { type Integration, TaskFailure } from './state-machine.ts';
import type { TaskExit, TaskRunner } from './task-runner.ts';

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
  readonly entry: string;
  readonly runner: TaskRunner;
  /** What it may do for a job, if it runs code of strategies. */
  readonly sandbox?: (jobId: string) => SandboxGrants;
}

export interface IntegrationDeps {
  /** Functions by the name that the substitutions give them. */
  readonly functions: Readonly<Record<string, (payload: never, signal: AbortSignal) => Promise<unknown>>>;
  /** Entry points of tasks, and what runs them, by the name that the substitutions give their definition. */
  readonly tasks: Readonly<Record<string, LocalTask>>;
  /** Of the job a task belongs to. */
  readonly placeOf: (jobId: string) => Promise<{ readonly owner: string; readonly priority: number }>;
  /** Ends the job of a task for good, with a reason in words. */
  readonly failJob: (jobId: string, reason: string) => Promise<void>;
  readonly dynamo: DynamoDBDocumentClient;
}

/** What the state machines call, by Resource: the same Parameters as in AWS, served by this machine. */
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
  const payload = await handler(parameters.Payload as never, signal);
  // As over the wire: what is not JSON does not survive.
  return { StatusCode: 200, Payload: JSON.parse(JSON.stringify(payload ?? null)) };
}

async function runTask(deps: IntegrationDeps, parameters: RunTaskParameters, signal: AbortSignal) {
  const task = deps.tasks[parameters.TaskDefinition];
  if (!task) throw new TaskFailure('ECS.ClientException', `No task ${parameters.TaskDefinition}`);
  const overrides = parameters.Overrides?.ContainerOverrides?.flatMap((each) => each.Environment ?? []) ?? [];
  const environment = Object.fromEntries(overrides.map(({ Name, Value }) => [Name, Value]));
  const jobId = environment.JOB_ID ?? '';
  const place = await deps.placeOf(jobId);
  const sandbox = task.sandbox?.(jobId);
  const exit = await task.runner.run({ entry: task.entry, environment, ...place, sandbox, signal });
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
