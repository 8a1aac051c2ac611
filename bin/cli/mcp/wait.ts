import { setTimeout as sleep } from 'node:timers/promises';
import { type AgentTool, toolName } from '#contract/operations/agent-tools.ts';
import { HYPEROPT_ID_PREFIX } from '#contract/values/job-limits.ts';
import type { Answer } from './answer.ts';
import { ArgumentError, callOperation } from './call.ts';
import { type Call, viewOf } from './views.ts';

/** Seconds of one call: clients end a call after 60 s unless they are told otherwise. */
const TIMEOUT_SECONDS = { min: 1, max: 300, default: 45 };
/** Delays between two reads of the job, ms. */
const POLL = { first: 300, factor: 1.5, max: 5_000 };

const INPUT: AgentTool['inputSchema'] = {
  type: 'object',
  properties: {
    job_id: { type: 'string', description: 'bt-<id>, ho-<id> or co-<id>' },
    timeout_seconds: {
      type: 'integer',
      minimum: TIMEOUT_SECONDS.min,
      maximum: TIMEOUT_SECONDS.max,
      default: TIMEOUT_SECONDS.default,
      description: 'Time after which the call returns the job as it is',
    },
  },
  required: ['job_id'],
  additionalProperties: false,
};

/** Tool that is no operation: it reads a job until it has ended. */
export const WAIT_TOOL = {
  name: 'wait_for_job',
  title: 'Wait for a backtest, hyperopt job or collection',
  description:
    'Returns when the job has ended, with its result and caveats, or after `timeout_seconds` with its progress. A job that needs longer continues: call again.',
  inputSchema: INPUT,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
};

interface Job {
  readonly status: string;
  /** 0 to 1, of a hyperopt job 0 to 100. */
  readonly progress: number | null;
}

/** Reports the progress of a job, 0 to 100. */
export type OnProgress = (progress: number, message: string) => Promise<void>;

export async function waitForJob(
  call: Call,
  readers: ReadonlyMap<string, AgentTool>,
  onProgress: OnProgress | undefined,
): Promise<Answer> {
  const { job_id: id, timeout_seconds: seconds = TIMEOUT_SECONDS.default } = call.args;
  if (typeof id !== 'string') throw new ArgumentError('job_id is missing: pass bt-<id>, ho-<id> or co-<id>.');
  if (typeof seconds !== 'number' || !(seconds >= TIMEOUT_SECONDS.min && seconds <= TIMEOUT_SECONDS.max)) {
    throw new ArgumentError(
      `timeout_seconds is not a number from ${TIMEOUT_SECONDS.min} to ${TIMEOUT_SECONDS.max}.`,
    );
  }
  const { operation } = readerOf(id, readers);
  const args = id.startsWith('co-') ? { collection_id: id } : { job_id: id };
  const scale = id.startsWith(HYPEROPT_ID_PREFIX) ? 1 : 100;
  const until = Date.now() + seconds * 1_000;
  for (let delay = POLL.first, reported = -1; ; delay = Math.min(delay * POLL.factor, POLL.max)) {
    const job = (await callOperation(call.caller, operation, args, call.signal)) as Job;
    const hasEnded = !['pending', 'running'].includes(job.status);
    if (hasEnded || Date.now() + delay > until) return viewOf(operation.id, job, { ...call, args });
    const progress = Math.floor((job.progress ?? 0) * scale);
    // The protocol wants progress that increases; a job that is requeued begins again.
    if (progress > reported) await onProgress?.(progress, job.status);
    reported = Math.max(reported, progress);
    await sleep(delay, undefined, { signal: call.signal });
  }
}

const READERS = { bt: 'getBacktest', ho: 'getHyperopt', co: 'getCollection' } as const;

function readerOf(id: string, readers: ReadonlyMap<string, AgentTool>): AgentTool {
  const prefix = id.slice(0, id.indexOf('-'));
  const name = Object.hasOwn(READERS, prefix) ? READERS[prefix as keyof typeof READERS] : undefined;
  const reader = name && readers.get(toolName(name));
  if (reader) return reader;
  throw new ArgumentError(
    name
      ? 'This server does not know the address of the service that has the job.'
      : `${JSON.stringify(id)} is not the ID of a job: pass bt-<id>, ho-<id> or co-<id>.`,
  );
}
