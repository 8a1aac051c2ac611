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
  return parseStored(schema, item, () => `${String(item.item)} of ${String(item.job_id)}`);
}

/**
 * The value of what was stored, the same to the order of its keys in every read: those that the schema declares are in
 * the schema's order, those of records and loose objects are sorted.
 *
 * @param name names it in errors
 * @throws CodedError SVC001, naming it and the field, when it does not fit
 */
export function parseStored<T>(schema: z.ZodType<T>, stored: unknown, name: () => string): T {
  const parsed = schema.safeParse(sortKeys(stored));
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new CodedError('SVC001', {
    message: `${name()} cannot be read: ${path.join('.') || 'item'}: ${message}`,
    cause: parsed.error,
  });
}

/** A map of the database has no order: two reads of one item may give its keys in two. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) sorted[key] = sortKeys((value as Item)[key]);
  return sorted;
}
