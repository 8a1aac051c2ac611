import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { type Log, runInContext } from './log.ts';

/** Environment variables of every task; see src/contract/env/env.ts. */
export interface TaskEnv {
  readonly CORRELATION_ID: string;
  readonly TASK_ID?: string | undefined;
  readonly ECS_CONTAINER_METADATA_URI_V4?: string | undefined;
}

export interface TaskIdentity {
  /** Id to stop the task by. */
  readonly id: string;
  /** Container image as in the task definition; null outside a container. */
  readonly image: string | null;
}

/** Fields used of https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4.html. */
interface TaskMetadata {
  readonly TaskARN: string;
  readonly Containers?: readonly { readonly Name: string; readonly Image: string }[];
}

const METADATA_TIMEOUT_MS = 5_000;

/**
 * Runs a task to its end and sets the exit code: 0 when `work` returns, because then it has recorded its outcome;
 * 1 when it throws, so that the state machine tries again.
 *
 * @param work called with the identity of the task
 */
export async function runTask(
  env: TaskEnv,
  log: Log,
  work: (task: TaskIdentity) => Promise<unknown>,
): Promise<void> {
  await runInContext({ correlationId: env.CORRELATION_ID }, async () => {
    try {
      await work(await taskIdentity(env));
      process.exitCode = 0;
    } catch (error) {
      log.error('task failed', error as Error);
      process.exitCode = 1;
    }
  });
  // Sockets that clients keep open must not keep an ended task alive.
  process.exit();
}

/** ARN and image of the task from the container metadata, or the TASK_ID set by the process runner. */
async function taskIdentity(env: TaskEnv): Promise<TaskIdentity> {
  const uri = env.ECS_CONTAINER_METADATA_URI_V4;
  if (env.TASK_ID || !uri) return { id: env.TASK_ID ?? `process-${process.pid}`, image: null };
  const { TaskARN, Containers } = JSON.parse(await getText(`${uri}/task`)) as TaskMetadata;
  return { id: TaskARN, image: Containers?.find(({ Name }) => Name === 'task')?.Image ?? null };
}

/** Not by `fetch`: loading Node's client for it takes 40 ms of processor time. Redirects are not followed. */
async function getText(url: string): Promise<string> {
  const request = get(url, { signal: AbortSignal.timeout(METADATA_TIMEOUT_MS) });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) {
    response.destroy();
    throw new Error(`The container metadata at ${url} could not be read: status ${response.statusCode}`);
  }
  return text(response);
}
