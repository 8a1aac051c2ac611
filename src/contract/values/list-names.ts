import { formatInteger } from './format-count.ts';

/** Names that a message lists. */
const MAX_LISTED = 10;

interface ListOptions {
  /** Names that are listed. Default: 10. */
  readonly shown?: number;
  /** Number of all names, when only the first are given. */
  readonly count?: number;
  /** Default: a comma. With another, `and` has it too. */
  readonly separator?: string;
}

/** The first names, and how many more there are. */
export function listNames(names: readonly string[], options: ListOptions = {}): string {
  const { shown = MAX_LISTED, count = names.length, separator = ', ' } = options;
  const first = names.slice(0, shown);
  const more = count - first.length;
  if (more <= 0) return first.join(separator);
  return `${first.join(separator)}${separator === ', ' ? ' ' : separator}and ${formatInteger(more)} more`;
}
