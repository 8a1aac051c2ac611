import type { BacktestExecutionInput, CollectionOutcome } from '#contract/backtests/backtest.ts';
import { CodedError } from '#contract/values/errors.ts';
import { ALL_TIMEFRAMES } from '#engine/timeframe.ts';
import { isoTime } from '../shared/iso-time.ts';
import { checkTimeframe } from '../shared/validate.ts';
import { type CollectDeps, collectCandles, type SymbolOutcome } from './collect-candles.ts';
import { type CollectionEnd, describeOutcomes } from './describe-outcomes.ts';
import type { Exchanges } from './exchange-ports.ts';

/** The attributes of a backtest or hyperopt job that decide which candles it needs. */
interface JobToCollect {
  readonly execution_input: Pick<
    BacktestExecutionInput,
    'exchange' | 'trading_mode' | 'symbols' | 'timeframe' | 'start' | 'end' | 'informative'
  >;
}

export interface CollectForJobDeps extends CollectDeps {
  readonly jobs: {
    get(jobId: string): Promise<JobToCollect | undefined>;
    setCollection(jobId: string, outcome: CollectionOutcome): Promise<void>;
  };
  readonly exchanges: Exchanges;
  readonly signal?: AbortSignal;
  /** Called with an unexpected error that ended the collection; the job's message omits the error's text. */
  readonly onError: (error: unknown) => void;
}

/**
 * Collects the candles that a job will read, its detail timeframe and informative series included, and records the outcome in the job. A
 * failed collection is recorded too: the job's own task decides with the stored candles.
 * Returns the outcome's message, or null when the job is unknown. Throws when the outcome could not be recorded.
 */
export async function collectForJob(deps: CollectForJobDeps, jobId: string): Promise<string | null> {
  const job = await deps.jobs.get(jobId);
  if (!job) return null;
  const outcome = await collect(deps, job)
    .then(describeOutcomes)
    .catch((error: unknown) => failure(deps, job, error));
  await deps.jobs.setCollection(jobId, { ...outcome, at: isoTime(deps.clock.now()) });
  return outcome.message;
}

function failure(deps: CollectForJobDeps, job: JobToCollect, error: unknown): CollectionEnd {
  const coded = error instanceof CodedError ? error : new CodedError('SVC001');
  if (coded.code === 'SVC001') deps.onError(error);
  // An exchange that does not exist (VAL005) has none of the symbols.
  const unlisted = coded.code === 'VAL005' ? { unlisted: [...job.execution_input.symbols] } : {};
  return { status: 'failed', message: `${coded.code} ${coded.message}`, ...unlisted };
}

async function collect(deps: CollectForJobDeps, job: JobToCollect): Promise<SymbolOutcome[]> {
  const {
    exchange: name,
    trading_mode,
    symbols,
    start,
    end,
    timeframe,
    informative = [],
  } = job.execution_input;
  const exchange = await deps.exchanges.open(name, trading_mode);
  const outcomes: SymbolOutcome[] = [];
  const requests = [
    // From the same start, by which freshness is judged.
    ...timeframe.split(',').map((each) => ({ symbols, timeframe: each, start })),
    ...informative.map((each) => ({ ...each, symbols: [each.symbol] })),
  ];
  for (const request of requests) {
    const { signal } = deps;
    outcomes.push(
      ...(await collectCandles(deps, {
        exchange,
        symbols: request.symbols,
        timeframe: checkTimeframe(request.timeframe, 'timeframe', ALL_TIMEFRAMES),
        start: Date.parse(request.start),
        end: Date.parse(end),
        ...(signal ? { signal } : {}),
      })),
    );
  }
  return outcomes;
}
