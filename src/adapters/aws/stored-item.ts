import { unmarshall } from '@aws-sdk/util-dynamodb';
import type * as z from 'zod';
import { CodedError } from '#contract/errors.ts';

/** An item of the Jobs table as it is read and written. */
export type Item = Record<string, unknown>;

/** The sort key of the job itself among its items. */
export const JOB_ITEM = 'JOB';

export function jobKey(jobId: string) {
  return { job_id: jobId, item: JOB_ITEM };
}

/** The value of the item that a failed condition brought along, undefined when there was none. */
export function fromAttributes<T>(toValue: (item: Item) => T, item: unknown): T | undefined {
  if (!item) return undefined;
  return toValue(unmarshall(item as Parameters<typeof unmarshall>[0], { wrapNumbers: Number }));
}

/** Throws SVC001 naming the item and the field when it does not fit. */
export function parseItem<T>(schema: z.ZodType<T>, item: Item): T {
  const parsed = schema.safeParse(item);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new CodedError('SVC001', {
    message: `${String(item.item)} of ${String(item.job_id)} cannot be read: ${path.join('.') || 'item'}: ${message}`,
    cause: parsed.error,
  });
}
