import { isTimeframe, type Timeframe } from './timeframe.ts';

/** Startup candles by timeframe, as a strategy declares them. Its own timeframe must be named. */
export type DeclaredStartup = Readonly<Partial<Record<Timeframe, number>>>;

/** Startup candles for some parameters: one number for all timeframes, or those of the timeframes that a strategy names. */
export type Startup = number | NamedStartup;

interface NamedStartup {
  /** Of the timeframe of the run, and of those that are not named. */
  readonly own: number;
  /** As declared. */
  readonly named: DeclaredStartup;
}

/** Upper bound of startup candles: about two years of 1m candles. */
export const MAX_STARTUP_CANDLES = 1_000_000;

/** Startup candles of the timeframe of a run. */
export const ownStartup = (startup: Startup): number => (typeof startup === 'number' ? startup : startup.own);

/** Startup candles of an informative timeframe. */
export function startupOn(startup: Startup, timeframe: Timeframe): number {
  return typeof startup === 'number' ? startup : (startup.named[timeframe] ?? startup.own);
}

/** The larger one of each timeframe. */
export function largerStartup(a: Startup, b: Startup): Startup {
  if (typeof a === 'number' && typeof b === 'number') return Math.max(a, b);
  const names = [a, b].flatMap((each) =>
    typeof each === 'number' ? [] : (Object.keys(each.named) as Timeframe[]),
  );
  const named = names.map((each) => [each, Math.max(startupOn(a, each), startupOn(b, each))]);
  return { own: Math.max(ownStartup(a), ownStartup(b)), named: Object.fromEntries(named) };
}

/** True if `a` needs more candles of some timeframe than `b`. */
export function needsMore(a: Startup, b: Startup): boolean {
  const larger = largerStartup(a, b);
  if (ownStartup(larger) > ownStartup(b)) return true;
  return (
    typeof larger !== 'number' &&
    Object.keys(larger.named).some(
      (each) => startupOn(larger, each as Timeframe) > startupOn(b, each as Timeframe),
    )
  );
}

/**
 * The startup candles that a strategy declares. A string says what is wrong with the value.
 *
 * @param timeframe the strategy's own, which must be named
 */
export function parseStartup(value: unknown, timeframe: Timeframe): Startup | string {
  if (isCount(value)) return value;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) return `${shown(value)}, which is not an integer from 0 to ${MAX_STARTUP_CANDLES}`;
  const named: [Timeframe, number][] = [];
  for (const [name, count] of Object.entries(value)) {
    if (!isTimeframe(name)) return `an object with ${shown(name)}, which is not a timeframe`;
    if (!isCount(count))
      return `${shown(count)} for ${name}, which is not an integer from 0 to ${MAX_STARTUP_CANDLES}`;
    named.push([name, count]);
  }
  const own = named.find(([name]) => name === timeframe)?.[1];
  if (own === undefined) return `an object without ${timeframe}, the timeframe of the strategy`;
  return { own, named: Object.fromEntries(named) };
}

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_STARTUP_CANDLES;

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 60);
}
