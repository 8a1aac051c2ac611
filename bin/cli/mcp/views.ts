import type * as z from 'zod';
import type { BacktestJobList } from '#contract/backtests/backtest-api.ts';
import type { BacktestReportData } from '#contract/backtests/report.ts';
import type { TableRow } from '#contract/backtests/report-metrics.ts';
import type { LookAheadState } from '#contract/config/look-ahead.ts';
import type { StrategyConfiguration } from '#contract/config/strategy.ts';
import type { HyperoptJob, HyperoptList, HyperoptResult } from '#contract/hyperopt/hyperopt-api.ts';
import type { Collection } from '#contract/market-data/market-data.ts';
import { OVERFITTING_BOUNDS } from '#contract/values/backtest-limits.ts';
import { lowestDeflation, trialsOfScope } from '#contract/values/deflated-ratio.ts';
import { backtestPath, type Job } from '../reports/load-results.ts';
import type { Answer, NextCall } from './answer.ts';
import type { Arguments, Caller } from './call.ts';

/** One call of a tool. */
export interface Call {
  readonly caller: Caller;
  readonly args: Arguments;
  readonly signal: AbortSignal;
}

/** Makes the answer of a response: the fields that matter, caveats and the next call. */
type View = (body: never, call: Call) => Answer | Promise<Answer>;

type Report = z.infer<typeof BacktestReportData>;

/** Views by operation ID; other operations answer with their response and its warnings. */
const VIEWS: Readonly<Record<string, View>> = {
  submitBacktest: started,
  startHyperopt: started,
  resumeHyperopt: started,
  startCollection: (body: z.infer<typeof Collection>) => ({
    data: body,
    next: [waitFor(body.collection_id)],
  }),
  getBacktest: backtest,
  listBacktests: ({ items, ...page }: z.infer<typeof BacktestJobList>) => ({
    data: { ...page, items: items.map(backtestRow) },
    caveats: [...foundIn(items), SELECTION],
    next: items
      .slice(0, 1)
      .map(({ job_id }) => ({ tool: 'getBacktest', arguments: { job_id }, why: 'its caveats' })),
  }),
  getBacktestReport: report,
  listStrategies: ({ items, broken }: { items: Strategy[]; broken: unknown[] }) => ({
    data: {
      items: items.map(({ parameters, strategy, description, timeframe, pairs, can_short }) => ({
        strategy,
        description,
        timeframe,
        pairs,
        can_short,
        parameters: Object.keys(parameters),
      })),
      broken,
    },
    next: items.slice(0, 1).map(({ strategy }) => ({
      tool: 'getStrategy',
      arguments: { name: strategy },
      why: 'ranges of its parameters',
    })),
  }),
  getHyperopt: (body: z.infer<typeof HyperoptJob>) => ({
    data: body,
    caveats: quoted(body.warnings, 'warning'),
    next: nextOfHyperopt(body),
  }),
  getHyperoptResult: hyperoptResult,
  listHyperopts: (body: z.infer<typeof HyperoptList>) => ({
    data: body,
    caveats: [...foundIn(body.items), SELECTION],
  }),
};

type Strategy = z.infer<typeof StrategyConfiguration>;

const SELECTION =
  'The best of several runs overstates the strategy: the more runs, the higher the best Sharpe ratio of strategies without skill.';

/** Says which jobs of a list have a found look-ahead bias. */
function foundIn(items: readonly { readonly job_id: string; readonly look_ahead: LookAheadState | null }[]) {
  const found = items.filter(({ look_ahead }) => look_ahead === 'found').map(({ job_id }) => job_id);
  return found.length === 0 ? [] : [`${CANNOT_BE_EARNED}: ${found.join(', ')}.`];
}

const CANNOT_BE_EARNED =
  'Look-ahead bias was found, so these metrics cannot be earned, and none of them is the best';

/** The answer of an operation. */
export function viewOf(operationId: string, body: unknown, call: Call): Answer | Promise<Answer> {
  const view = VIEWS[operationId] ?? plain;
  return view(body as never, call);
}

function plain(body: unknown): Answer {
  if (typeof body !== 'object' || body === null || !('warnings' in body)) return { data: body };
  const { warnings, ...data } = body;
  return { data, caveats: quoted(Array.isArray(warnings) ? warnings : [], 'warning') };
}

/** Sentences of the service. They may contain names that a user chose: quotes keep them apart from this server's own words. */
function quoted(texts: readonly string[], label: string): string[] {
  return texts.map((text) => `${label}: ${JSON.stringify(text)}`);
}

function waitFor(job_id: string): NextCall {
  return { tool: 'wait_for_job', arguments: { job_id }, why: 'its end and its result' };
}

function started(body: { readonly job_id: string; readonly warnings: readonly string[] }): Answer {
  const { warnings, ...data } = body;
  return { data, caveats: quoted(warnings, 'warning'), next: [waitFor(body.job_id)] };
}

const ROW_METRICS = [
  'total_trades',
  'total_profit_pct',
  'market_change_pct',
  'sharpe_ratio',
  'max_drawdown_pct',
  'profit_factor',
];

function backtestRow(row: z.infer<typeof BacktestJobList>['items'][number]) {
  const { job_id, status, strategy, pairs, timeframe, date_range, experiment_name, tags, error, created_at } =
    row;
  const { deflation, exchange, look_ahead } = row;
  const metrics = row.result && {
    ...Object.fromEntries(ROW_METRICS.map((name) => [name, row.result![name]])),
    undefined_metrics: row.result.undefined_metrics,
  };
  return {
    job_id,
    status,
    strategy,
    exchange,
    timeframe,
    date_range,
    experiment_name,
    created_at,
    error,
    metrics,
    look_ahead,
    pairs: pairs.length,
    ...(deflation && {
      deflated_sharpe_ratio: deflation.deflated_sharpe_ratio,
      deflated_by: trialsOfScope(deflation),
    }),
    ...(tags.length > 0 && { tags }),
  };
}

const isUnfinished = (status: string) => status === 'pending' || status === 'running';

/** A backtest; when completed with the caveats of its report. */
async function backtest(job: Job, { caller, signal }: Call): Promise<Answer> {
  const { job_id, status, warnings, look_ahead, config, found_by } = job;
  const data = backtestData(job);
  if (isUnfinished(status)) {
    return { data, caveats: quoted(warnings, 'warning'), next: [waitFor(job_id)] };
  }
  if (status !== 'completed') return { data, caveats: quoted(warnings, 'warning') };
  const report = job.results_deleted
    ? undefined
    : await (await caller.client('backend')).send<Report>(
        'GET',
        backtestPath(job_id, '/report-data?trades=false'),
        undefined,
        signal,
      );
  return {
    data,
    caveats: [
      ...trialLines(job),
      ...(found_by
        ? [
            `The run was made from the best of ${found_by.trials} trials of ${found_by.hyperopt_job_id}: see its result.`,
          ]
        : []),
      ...quoted(warnings, 'warning'),
      ...(look_ahead ? quoted([look_ahead.message, ...look_ahead.findings], 'look-ahead check') : []),
      ...(config.exchange === 'sim'
        ? ['The candles are simulated: the result says nothing about a market.']
        : []),
      ...biasLines(report?.biases ?? []),
    ],
    next: [
      { tool: 'getBacktestReport', arguments: { job_id }, why: 'metrics by pair, month and exit reason' },
    ],
  };
}

function backtestData(job: Job) {
  const { job_id, status, strategy, created_at, finished_at, progress, queue, stalled, error, error_code } =
    job;
  const { config, registered, experiment_name, tags, look_ahead, session, trials } = job;
  const { exchange, pairs, timeframe, date_range, params, fee, slippage, leverage, stake_amount } = config;
  const { trade_stats: _, ...metrics } = job.result ?? {};
  return {
    job_id,
    status,
    strategy,
    experiment_name,
    session,
    created_at,
    finished_at,
    error,
    error_code,
    ...(isUnfinished(status) && { progress, queue, stalled }),
    config: { exchange, pairs, timeframe, date_range, params, fee, slippage, leverage, stake_amount },
    ...(status === 'completed' && { metrics, look_ahead: look_ahead?.state, trials }),
    ...(registered && { registered }),
    ...(tags.length > 0 && { tags }),
  };
}

function report(body: Report): Answer {
  const { job_id, strategy, settings, metrics, tables, periods, drawdowns, costs, counters } = body;
  const { undefined_metrics, short_run } = body;
  const { fill_model, trades, look_ahead, warnings, biases, provenance, models, slippage, universe } = body;
  const { assumptions } = body;
  const {
    pairs,
    exchange,
    timeframe,
    first_candle,
    last_candle,
    params,
    fill_model: fills,
    precision,
    slippage_model,
    universe: rule,
  } = settings;
  return {
    data: {
      job_id,
      strategy: strategy.name,
      settings: {
        pairs,
        exchange,
        timeframe,
        first_candle,
        last_candle,
        params,
        fills,
        precision,
        ...(slippage_model && { slippage_model }),
        ...(rule && { universe: rule }),
      },
      metrics,
      undefined_metrics,
      short_run,
      per_pair: tables.per_pair.map(groupRow),
      per_exit_reason: tables.per_exit_reason.map(groupRow),
      months: Object.fromEntries(periods.month.map(({ key, return_pct }) => [key, return_pct])),
      deepest_drawdown: drawdowns.daily[0],
      costs,
      counters,
      fill_model,
      ...(assumptions && { assumptions }),
      trades: trades.total,
      ...(slippage && { slippage }),
      ...(universe && { survivorship: universe.survivorship }),
      ...(models && { models: { trained: models.trained, windows: models.windows_total } }),
      look_ahead: look_ahead.state,
      digest: provenance.digest,
    },
    caveats: [
      ...quoted(warnings, 'warning'),
      ...quoted([look_ahead.message], 'look-ahead check'),
      ...biasLines(biases),
    ],
    next: [{ tool: 'listBacktestTrades', arguments: { job_id }, why: 'single trades' }],
  };
}

function groupRow({ key, total_trades, total_profit, total_profit_pct, win_rate, profit_factor }: TableRow) {
  return { key, total_trades, total_profit, total_profit_pct, win_rate, profit_factor };
}

/** The number of trials that the run is one of, and what its Sharpe ratio is worth among them. */
function trialLines({ trials, session }: Job): string[] {
  if (!trials) return [];
  const { good } = OVERFITTING_BOUNDS.deflated_sharpe_ratio;
  const counts = [
    ...(trials.session === null ? [] : [`${trials.session} of session ${JSON.stringify(session)}`]),
    `${trials.strategy} of this strategy`,
    `${trials.owner} of this user in all`,
  ];
  const lowest = lowestDeflation(trials);
  const { deflated_sharpe_ratio: ratio, reason } = lowest;
  return [
    `Trials on overlapping assets and dates when the run completed: ${counts.join(', ')}.`,
    ratio === null
      ? `The deflated Sharpe ratio is undefined: ${reason}.`
      : `Deflated Sharpe ratio ${ratio.toFixed(3)} by the ${trialsOfScope(lowest)}, the lowest: the probability that the true Sharpe ratio exceeds the best of as many trials without skill; good from ${good}.`,
  ];
}

function biasLines(biases: Report['biases']): string[] {
  return biases.flatMap(({ effect, text }) => quoted([text], `${effect} assumption`));
}

function nextOfHyperopt({ job_id, status }: z.infer<typeof HyperoptJob>): NextCall[] {
  if (isUnfinished(status)) return [waitFor(job_id)];
  if (status !== 'completed') {
    return [{ tool: 'resumeHyperopt', arguments: { job_id }, why: 'the remaining trials, as a new job' }];
  }
  return [
    { tool: 'getHyperoptResult', arguments: { job_id }, why: 'best parameters and overfitting diagnostics' },
  ];
}

function hyperoptResult(result: z.infer<typeof HyperoptResult>): Answer {
  const { out_of_sample: _, warnings, overfitting, job_id, ...rest } = result;
  const { deflated_sharpe_ratio: deflated, pbo, trials } = overfitting;
  const { deflated_sharpe_ratio: sharpeBounds, pbo: pboBounds } = OVERFITTING_BOUNDS;
  return {
    data: { job_id, ...rest, overfitting },
    caveats: [
      ...foundIn([{ job_id, look_ahead: rest.look_ahead.state }]),
      ...quoted([rest.look_ahead.message, ...rest.look_ahead.findings], 'look-ahead check'),
      deflated === null
        ? `The best of ${trials} trials is a selection, and its deflated Sharpe ratio is undefined.`
        : `Deflated Sharpe ratio ${deflated.toFixed(3)}: the probability that the best of ${trials} trials has skill; good from ${sharpeBounds.good}.`,
      ...(pbo
        ? [
            `Probability of backtest overfitting ${pbo.probability.toFixed(3)}: good below ${pboBounds.good}, no predictive value above ${pboBounds.bad}.`,
          ]
        : []),
      ...quoted(warnings, 'warning'),
    ],
    // The parameters of a search with a leak are the best of nothing.
    next:
      rest.look_ahead.state === 'found'
        ? []
        : [
            {
              tool: 'submitBacktest',
              arguments: {
                config: { strategy: rest.study_name.replace(`_${job_id}`, '') },
                hyperopt_job_id: job_id,
              },
              why: 'the best parameters; pass config.date_range with dates that the search has not seen: without it the run repeats those of the search',
            },
          ],
  };
}
