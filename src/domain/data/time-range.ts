import { CodedError } from '#contract/errors.ts';
import { ACCEPTED_TIMES, parseTime } from '../validate.ts';

export interface TimeRange {
  /** Unix milliseconds; undefined when not given. */
  readonly start: number | undefined;
  /** Exclusive. */
  readonly end: number | undefined;
}

/** Times of a request. Throws VAL001 for one that is not ISO 8601 and for a start that is not before the end. */
export function parseRange(input: { readonly start?: string; readonly end?: string }): TimeRange {
  const start = parseOne(input.start, 'start');
  const end = parseOne(input.end, 'end');
  if (start !== undefined && end !== undefined && start >= end) {
    throw new CodedError('VAL001', {
      message: 'start must be before end',
      field: 'start',
      context: { start: input.start, end: input.end },
    });
  }
  return { start, end };
}

function parseOne(text: string | undefined, field: 'start' | 'end'): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTime(text);
  if (time !== undefined) return time;
  throw new CodedError('VAL001', {
    message: `${field} must be ${ACCEPTED_TIMES}`,
    field,
    context: { [field]: text.slice(0, 100) },
  });
}
