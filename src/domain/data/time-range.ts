import { CodedError } from '#contract/values/errors.ts';
import { ACCEPTED_TIMES, parseTime } from '../shared/iso-time.ts';

export interface TimeRange {
  /** Unix milliseconds; undefined when not given. */
  readonly start: number | undefined;
  /** Exclusive. */
  readonly end: number | undefined;
}

/**
 * Times of a request. Throws VAL001 for one that is not ISO 8601 and for a start that is not before the end.
 *
 * @param fields names of both in the request, for errors
 */
export function parseRange(
  input: { readonly start?: string | undefined; readonly end?: string | undefined },
  fields: readonly [start: string, end: string] = ['start', 'end'],
): TimeRange {
  const start = parseOne(input.start, fields[0]);
  const end = parseOne(input.end, fields[1]);
  if (start !== undefined && end !== undefined && start >= end) {
    throw new CodedError('VAL001', {
      message: `${fields[0]} must be before ${fields[1]}`,
      field: fields[0],
      context: { [fields[0]]: input.start, [fields[1]]: input.end },
    });
  }
  return { start, end };
}

function parseOne(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time !== undefined) return time;
  throw new CodedError('VAL001', {
    message: `${field} must be ${ACCEPTED_TIMES}`,
    field,
    context: { [field]: text.slice(0, 100) },
  });
}
