/** Names and limits of a registered image's run. Separate from its schemas, which services do not load. */

export const IMAGE_RUN_LIMITS = {
  /** Bytes of each object before and after decompression. The outcome becomes part of the job's item of up to 400 KB. */
  bytes: {
    progress: 100,
    outcome: 128 * 1024,
    result: 16 * 1024,
    equity: 4 * 1024 * 1024,
    report: 8 * 1024 * 1024,
    trade_page: 4 * 1024 * 1024,
    /** 16 years of one-minute candles with four bytes for each value. */
    curve: 64 * 1024 * 1024,
  },
  /** Values of one JSON object: a schema reports each wrong one. */
  values: 500_000,
  /** Objects of it: a schema reports each missing field, and 500,000 empty objects need more than 1.5 GB. */
  objects: 50_000,
  /** Pages of 1,000 trades each. */
  trade_pages: 1_000,
  error_length: 10_000,
  /** Characters of a tag or an exit reason. */
  text_length: 1_000,
} as const;

/** Objects of a run by name, below its prefix. */
export const IMAGE_RUN_OBJECTS = { progress: 'progress.json', outcome: 'outcome.json' } as const;

/** Prefix of inputs. Whoever knows a key may read the input: the rest of the key is random. */
export const IMAGE_INPUT_PREFIX = 'inputs/';

const TASK_ARN = /^arn:[\w-]+:ecs:[\w-]+:\d{12}:task\/[\w-]+\/([0-9a-f]{32})$/;

/**
 * The only prefix that the task may write: `runs/${aws:userid}/`. ECS names the session of a task's role after the task, and
 * `aws:userid` is the ID of the role, a colon and the name of the session.
 *
 * @throws RangeError if `task` is not the ARN of a task
 */
export function imageRunPrefix(roleId: string, task: string): string {
  const id = TASK_ARN.exec(task)?.[1];
  if (id === undefined) throw new RangeError(`Not the ARN of a task: ${JSON.stringify(task)}`);
  return `runs/${roleId}:${id}/`;
}
