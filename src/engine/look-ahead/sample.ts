import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { createRandom, type Random } from '../random.ts';
import { startupRows } from '../run/history.ts';
import { tradedRange } from '../run/pair-history.ts';
import { DAY_MS, TIMEFRAME_MS } from '../timeframe.ts';
import type { LookAheadFinding } from './findings.ts';
import type { LookAheadSubject } from './runs.ts';
import { beginSearch, confirmed, cutTimes, firstOfEach, testCut, tradedRows } from './search.ts';

export interface SampleOptions {
  /** Processor time of this process so far, ms: decides how many cuts there are, and no number of a result. */
  readonly spent: () => number;
  /** Time that the whole run took, ms: from it follows how long a part would take. */
  readonly runMs: number;
  /** Open times (ms) of trades of the run: the part that is sampled holds one of them. */
  readonly opened: ArrayLike<number>;
  /** Share of the processor time, sampling included, that it may take. Default 0.1. */
  readonly share?: number;
  /** Chooses the part and where its candles end. Default 1. */
  readonly seed?: number;
  /** Awaited between runs. */
  readonly pause?: () => Promise<void>;
}

/** What was sampled. */
export interface LookAheadSample {
  /** Times at which the candles ended and the run was repeated; 0: nothing was checked. */
  readonly cuts: number;
  /** Candles of the sampled part, over all pairs. */
  readonly rows: number;
  readonly pairs: readonly string[];
  readonly findings: readonly LookAheadFinding[];
  /** Why there was no cut; empty where there was. */
  readonly reason: string;
}

const MAX_CUTS = 20;
/** The part of a run is as long as lets the first of these numbers of cuts be paid for. */
const WANTED_CUTS = [5, 2, 1];
const MIN_STEPS = 50;

/**
 * Repeats a part of a run with its candles cut off, callbacks included, at as many times as a share of the processor time
 * buys, and compares. All pairs are cut at once; every run loads the strategy again.
 */
export async function sampleLookAhead(
  subject: LookAheadSubject,
  options: SampleOptions,
): Promise<LookAheadSample> {
  const { spent, share = 0.1, pause = async () => undefined } = options;
  const begun = spent();
  const limit = begun + (begun * share) / (1 - share);
  const random = createRandom(options.seed ?? 1);
  const nothing = { cuts: 0, rows: 0, pairs: [], findings: [] };
  try {
    const part = await choosePart(subject, options, limit - begun, random);
    if (!part) return { ...nothing, reason: `${share * 100} % of the processor time buys no cut` };
    const search = await beginSearch({ ...subject, config: part });
    const times = shuffled(cutTimes(search, MAX_CUTS, random), random);
    const findings: LookAheadFinding[] = [];
    let cuts = 0;
    let dearest = 0;
    for (const time of times) {
      await pause();
      const before = spent();
      if (before + dearest > limit) break;
      findings.push(...(await testCut(search, time)));
      dearest = Math.max(dearest, spent() - before);
      cuts++;
    }
    if (cuts === 0) return { ...nothing, reason: `${share * 100} % of the processor time buys no cut` };
    return {
      cuts,
      rows: tradedRows(search),
      pairs: search.histories.map(({ data }) => data.pair),
      findings: firstOfEach(await confirmed(search, findings)),
      reason: '',
    };
  } catch (error) {
    // The run itself went well: what fails is a part of it.
    return { ...nothing, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The configuration with the part of its range that is sampled; undefined where the budget buys none. */
async function choosePart(
  { load, config }: LookAheadSubject,
  { runMs, opened }: SampleOptions,
  budgetMs: number,
  random: Random,
): Promise<ResolvedBacktestConfig | undefined> {
  const strategy = await load();
  const { start, end } = tradedRange(config);
  const stepMs = TIMEFRAME_MS[config.timeframe];
  const steps = Math.ceil((end - start) / stepMs);
  const ml = config.ml_engine;
  // Models are most of a run's time, and as many are trained as windows are traded.
  const before = ml ? 0 : startupRows(strategy, config.params, config.timeframe);
  const stepCost = runMs / (steps + before);
  // A cut takes two runs of half the part on average, one without callbacks; with models what was trained is remembered.
  const cutCost = ml ? 0.1 : strategy.callbacks ? 1 : 0.5;
  const least = Math.min(steps, ml ? (ml.backtest_period_days * DAY_MS) / stepMs : MIN_STEPS);
  const affordable = WANTED_CUTS.map(
    (cuts) => Math.floor(budgetMs / (stepCost * (1 + cuts * cutCost))) - before,
  ).find((rows) => rows >= least);
  if (affordable === undefined) return undefined;
  const length = Math.min(steps, affordable);
  const center = opened.length > 0 ? opened[Math.floor(random() * opened.length)]! : start;
  const from = Math.round((center - start) / stepMs) - Math.floor(length * random());
  const first = start + Math.max(0, Math.min(steps - length, from)) * stepMs;
  const iso = (time: number) => new Date(time).toISOString();
  return { ...config, date_range: { start: iso(first), end: iso(Math.min(end, first + length * stepMs)) } };
}

/** Fewer cuts than there are times must not all be early ones. */
function shuffled(times: readonly number[], random: Random): number[] {
  return times
    .map((time) => [random(), time] as const)
    .sort(([a], [b]) => a - b)
    .map(([, time]) => time);
}
