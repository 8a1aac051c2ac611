import { listNames } from '#contract/values/list-names.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { SymbolOutcome } from './collect-candles.ts';
import { addChanges, NO_CHANGES } from './fill-chunk.ts';

export interface CollectionEnd {
  readonly status: 'completed' | 'failed';
  readonly message: string;
  /** Symbols that the exchange does not have; absent when it has all. */
  readonly unlisted?: string[];
}

/** Status and message of an ended collection: failed if one series failed. The message names up to ten series and files. */
export function describeOutcomes(outcomes: readonly SymbolOutcome[]): CollectionEnd {
  const candles = outcomes.reduce((sum, each) => sum + each.candles, 0);
  const left = changesOf(outcomes)
    .map((change) => `, ${change}`)
    .join('');
  const corrupt = [...new Set(outcomes.flatMap((each) => each.corrupt))];
  const replaced = corrupt.length > 0 ? `, corrupt files: ${listNames(corrupt)}` : '';
  const bare = outcomes.flatMap(({ symbol, noInstrument }) =>
    noInstrument ? [{ name: symbol, error: noInstrument }] : [],
  );
  const without = bare.length > 0 ? `, instruments not collected: ${byError(bare)}` : '';
  const stored = `${candles} candles stored${left}${replaced}${without}`;
  const failed = outcomes.flatMap(({ symbol, timeframe, error }) =>
    error ? [{ name: `${symbol} ${timeframe}`, error }] : [],
  );
  if (failed.length === 0) return { status: 'completed', message: stored };
  const unknown = outcomes.filter(({ error }) => error?.code === 'DATA003');
  const unlisted = [...new Set(unknown.map(({ symbol }) => symbol))];
  return {
    status: 'failed',
    message: `${failed.length} of ${outcomes.length} series failed: ${byError(failed)}. ${stored}.`,
    ...(unlisted.length > 0 ? { unlisted } : {}),
  };
}

/** What was left out or changed of the candles of the exchange. */
export function changesOf(outcomes: readonly SymbolOutcome[]): string[] {
  const all = outcomes.map((each) => each.changes).reduce(addChanges, NO_CHANGES);
  const { rejected, moved, merged } = all;
  const served = outcomes.find((each) => each.served !== null)?.served;
  return [
    ...(served ? [`only the newest ${served} are served: import files for the time before them`] : []),
    ...(rejected > 0 ? [`${rejected} invalid ones skipped${from(all.firstRejected)}`] : []),
    ...(moved > 0 ? [`${moved} off the grid moved back to it${from(all.firstMoved)}`] : []),
    ...(merged > 0 ? [`${merged} merged with another one of the same time${from(all.firstMerged)}`] : []),
  ];
}

/** The first of several times; nothing for a time that is none. */
const from = (time: number) => (Number.isFinite(time) ? ` (first: ${isoTime(time)})` : '');

interface Failure {
  readonly name: string;
  readonly error: NonNullable<SymbolOutcome['error']>;
}

/** Each error once, after the names that it is of: an exchange that is unreachable fails all series alike. */
function byError(failures: readonly Failure[]): string {
  const names = new Map<string, Set<string>>();
  for (const { name, error } of failures) {
    // The sentence continues after the error.
    const text = `${error.code} ${error.message.replace(/\.$/, '')}`;
    names.set(text, (names.get(text) ?? new Set()).add(name));
  }
  const texts = [...names].map(([text, each]) => `${listNames([...each])}: ${text}`);
  return listNames(texts, { separator: '; ' });
}
