import { createHash } from 'node:crypto';
import { CodedError } from '#contract/values/errors.ts';

/** Versioned, so that a cursor of a later form is rejected instead of misread. */
type Cursor = readonly [version: 1, scope: string, position: string[]];

/** Characters of a part of a position: a time and the name of an experiment have up to 225. 4 bytes each are a valid key. */
const MAX_PART_LENGTH = 250;

/** Filters of a list. A cursor is valid only for a list with the same filters. */
export type CursorScope = Readonly<Record<string, string | null>>;

/** An opaque position in a list: the key of its last item, bound to the list's filters. */
export function encodeCursor(position: readonly string[], scope: CursorScope): string {
  return Buffer.from(JSON.stringify([1, hashScope(scope), position])).toString('base64url');
}

/**
 * The position in `cursor`.
 *
 * @throws CodedError VAL006 for a cursor that is invalid or was made by a list with other filters
 */
export function decodeCursor(cursor: string, scope: CursorScope, length: number): string[] {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!isCursor(parsed, length)) throw invalidCursor();
  if (parsed[1] !== hashScope(scope)) {
    throw new CodedError('VAL006', {
      message: 'The cursor belongs to a list with other filters. Keep the filters while paging.',
      field: 'cursor',
      context: { filters: scope },
    });
  }
  return parsed[2];
}

/** VAL006 for a string that no list returned as a cursor. */
export function invalidCursor(): CodedError {
  return new CodedError('VAL006', {
    message: 'The cursor is not valid. Pass the cursor of the previous page unchanged.',
    field: 'cursor',
  });
}

function isCursor(value: unknown, length: number): value is Cursor {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [version, scope, position]: unknown[] = value;
  if (version !== 1 || typeof scope !== 'string') return false;
  if (!Array.isArray(position) || position.length !== length) return false;
  return position.every(
    (each) => typeof each === 'string' && each.length >= 1 && each.length <= MAX_PART_LENGTH,
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function hashScope(scope: CursorScope): string {
  const entries = Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(entries)).digest('base64url').slice(0, 12);
}
