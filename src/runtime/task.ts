import type { Log } from './log.ts';
import { runInContext } from './request-context.ts';

/** What the environment of every task tells; see src/contract/env.ts. */
export interface TaskEnv {
  readonly CORRELATION_ID: string;
  readonly TASK_ID?: string | undefined;
  readonly ECS_CONTAINER_METADATA_URI_V4?: string | undefined;
}

const METADATA_TIMEOUT_MS = 5_000;

/**
 * Runs a task to its end and sets the exit code: 0 when `work` returns, because then it has recorded its outcome;
 * 1 when it throws, so that the state machine tries again.
 *
 * @param work is given the identity under which the task can be stopped
 */
export async function runTask(
  env: TaskEnv,
  log: Log,
  work: (task: string) => Promise<unknown>,
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

/** The task's ARN from the container's metadata, or the name that the process runner gave. */
async function taskIdentity(env: TaskEnv): Promise<string> {
  if (env.TASK_ID) return env.TASK_ID;
  if (!env.ECS_CONTAINER_METADATA_URI_V4) return `process-${process.pid}`;
  const reply = await fetch(`${env.ECS_CONTAINER_METADATA_URI_V4}/task`, {
    signal: AbortSignal.timeout(METADATA_TIMEOUT_MS),
  });
  const { TaskARN } = (await reply.json()) as { readonly TaskARN: string };
  return TaskARN;
}
