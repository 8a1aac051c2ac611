import type * as z from 'zod';
import type { OverfittingReport, SearchPermutations } from '#contract/hyperopt/hyperopt.ts';
import type {
  HyperoptList,
  HyperoptResult,
  HyperoptTrial,
  HyperoptTrialList,
} from '#contract/hyperopt/hyperopt-api.ts';
import { OVERFITTING_BOUNDS } from '#contract/values/backtest-limits.ts';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { NO_MODEL } from '#contract/values/hyperopt-limits.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { windowFigures } from '#contract/values/trial-windows.ts';
import type { ApiClient } from '../client.ts';
import type { JobListOptions } from '../job-list.ts';
import { queryOf } from '../options.ts';
import {
  compactNumber,
  figure,
  lookAheadText,
  MORE_JOBS,
  minute,
  percent,
  queueText,
  statusWithError,
  table,
  wrap,
} from '../output.ts';
import { type Job, jobPath } from './watch.ts';

/** Why a search with a leak has no best trial. */
const CANNOT_BE_EARNED =
  'The strategy uses candles that are not known yet, so no trial is the best. Fix it and search again';

/** Why the best trial of a search breaks its constraints. */
const INFEASIBLE = 'No trial keeps the constraints: the best one misses them least';

type Result = z.infer<typeof HyperoptResult>;
type Trial = z.infer<typeof HyperoptTrial>;

/** Prints the result of a finished hyperopt job, or why it has none. Returns the exit code. */
export async function printFinalResult(client: ApiClient, job: Job, json = false): Promise<number> {
  if (job.status === 'completed') {
    await printResult(client, job.job_id, json);
    return 0;
  }
  if (!json) for (const warning of foldWarnings(job.warnings)) console.log(`Warning: ${warning}`);
  console.error(`${job.job_id} ${statusWithError(job)}`);
  return 1;
}

/** Prints the best trials of a completed hyperopt job and its overfitting diagnostics. */
export async function printResult(client: ApiClient, jobId: string, json = false): Promise<void> {
  const result = await client.get<Result>(jobPath(jobId, '/result'));
  if (json) {
    console.log(JSON.stringify({ event: 'result', data: result }));
    return;
  }
  const { strategy, config } = await client.get<Job>(jobPath(jobId));
  const numbers = result.best_trials.map(({ number }) => number);
  console.log(bestTable(result, config.direction, await windowsOf(client, jobId, numbers)));
  console.log(
    overfittingText(result.overfitting, result.best_params.model_type !== NO_MODEL, result.permutations),
  );
  for (const warning of foldWarnings(result.warnings)) console.log(`Warning: ${warning}`);
  const { state, findings } = result.look_ahead;
  console.log(`Look-ahead: ${lookAheadText(state)}${state === 'found' ? `. ${CANNOT_BE_EARNED}` : ''}`);
  for (const finding of findings) console.log(`  ${finding}`);
  // The values of a search with a leak rank nothing.
  if (state === 'found') return;
  if (!result.feasible) console.log(INFEASIBLE);
  console.log(`Best: ${parametersText(result.best_params)}`);
  console.log(`Next: ${TOUCHSTONE} backtest ${strategy} --hyperopt ${jobId}`);
}

/** Values of the windows of complete trials, by trial number. */
async function windowsOf(
  client: ApiClient,
  jobId: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Trial['windows']>> {
  const found = new Map<number, Trial['windows']>();
  for (let cursor: string | null = ''; cursor !== null && found.size < numbers.length; ) {
    const query = queryOf({ state: 'complete', limit: PAGE_LIMITS.max, cursor: cursor || undefined });
    const page: z.infer<typeof HyperoptTrialList> = await client.get(jobPath(jobId, `/trials?${query}`));
    for (const { number, windows } of page.items) if (numbers.includes(number)) found.set(number, windows);
    cursor = page.next_cursor;
  }
  return found;
}

function bestTable(
  { best_trials, look_ahead: { state } }: Result,
  direction: Job['config']['direction'],
  windows: ReadonlyMap<number, Trial['windows']>,
): string {
  return table(
    ['Trial', 'Value', 'Windows', 'Worst', 'Median', 'Best', 'Parameters'],
    best_trials.map(({ number, value, params }) => {
      const reached = windows.get(number) ?? [];
      const { worst, median, best } = windowFigures(reached, direction);
      return [
        number,
        figure(state, compactNumber(value)),
        reached.length,
        figure(state, compactNumber(worst)),
        figure(state, compactNumber(median)),
        figure(state, compactNumber(best)),
        wrap(parametersText(params), 46),
      ];
    }),
  );
}

type Assessment = 'good' | 'uncertain' | 'bad' | 'unknown';

interface Diagnostic {
  readonly name: string;
  readonly value: number | null;
  readonly assessment: Assessment;
  /** Meaning of the value, or the reason why it is undefined. */
  readonly meaning: string;
}

/** Beyond `good` or `bad`, in the direction from one to the other. */
function assess(value: number | null, bounds: { readonly good: number; readonly bad: number }): Assessment {
  if (value === null) return 'unknown';
  const sign = Math.sign(bounds.good - bounds.bad);
  if (sign * (value - bounds.good) >= 0) return 'good';
  return sign * (value - bounds.bad) <= 0 ? 'bad' : 'uncertain';
}

const ratioText = (value: number) => `${Math.round(100 * value)} %`;

function diagnosticsOf(
  overfitting: OverfittingReport,
  isTrained: boolean,
  permuted: SearchPermutations | null,
): Diagnostic[] {
  const efficiency = isTrained ? [walkForwardEfficiency(overfitting)] : [];
  return [
    deflatedSharpe(overfitting),
    probabilityOfOverfitting(overfitting),
    ...efficiency,
    plateau(overfitting),
    ...(permuted ? [permutedSearches(permuted)] : []),
  ];
}

function permutedSearches({ p_value: value, searches, chance, reason }: SearchPermutations): Diagnostic {
  return {
    name: 'Permuted searches',
    value,
    assessment: assess(value, OVERFITTING_BOUNDS.permutations),
    meaning: chance
      ? `P-value of the best value. Nine in ten of ${searches} searches on permuted candles find ${compactNumber(chance.low)} to ${compactNumber(chance.high)}.`
      : `Undefined: ${reason}.`,
  };
}

function deflatedSharpe({ deflated_sharpe_ratio: value, trials }: OverfittingReport): Diagnostic {
  return {
    name: 'Deflated Sharpe ratio',
    value,
    assessment: assess(value, OVERFITTING_BOUNDS.deflated_sharpe_ratio),
    meaning:
      value === null
        ? 'Undefined: the returns do not vary, are too few, or are equal in all trials.'
        : `Probability ${ratioText(value)} that the Sharpe ratio exceeds the expected best of ${trials} zero-skill trials.`,
  };
}

function probabilityOfOverfitting({ pbo }: OverfittingReport): Diagnostic {
  return {
    name: 'Probability of overfitting',
    value: pbo?.probability ?? null,
    assessment: assess(pbo?.probability ?? null, OVERFITTING_BOUNDS.pbo),
    meaning: pbo
      ? `In ${ratioText(pbo.probability)} of ${pbo.splits} splits of the days into halves, the best trial of one half was at or below the median in the other; in ${ratioText(pbo.loss_probability)} it lost money there.`
      : 'Undefined: it needs ten days and two complete trials.',
  };
}

function walkForwardEfficiency({ walk_forward_efficiency: value }: OverfittingReport): Diagnostic {
  const bounds = OVERFITTING_BOUNDS.walk_forward_efficiency;
  const tooGood = value !== null && value > bounds.max;
  return {
    name: 'Walk-forward efficiency',
    value,
    assessment: tooGood ? 'uncertain' : assess(value, bounds),
    meaning:
      value === null
        ? 'Undefined: no profit on the days that the ML models were trained on.'
        : `Out-of-sample return is ${ratioText(value)} of the return on the training days${tooGood ? ', more than skill explains' : ''}.`,
  };
}

function plateau({ plateau: found }: OverfittingReport): Diagnostic {
  return {
    name: 'Plateau width',
    value: found?.width ?? null,
    assessment: assess(found?.width ?? null, OVERFITTING_BOUNDS.plateau_width),
    meaning: found
      ? `Parameters can move by ${ratioText(found.width)} of their ranges before the value drops (from ${found.trials} trials).`
      : 'Undefined: it needs ten complete trials.',
  };
}

/**
 * Overfitting diagnostics of the best trial: a table and a conclusion.
 *
 * @param isTrained ML models were trained; without them every day was used to choose the parameters
 */
export function overfittingText(
  overfitting: OverfittingReport,
  isTrained = true,
  permuted: SearchPermutations | null = null,
): string {
  const diagnostics = diagnosticsOf(overfitting, isTrained, permuted);
  const rows = diagnostics.map(({ name, value, assessment, meaning }) => [
    name,
    compactNumber(value),
    assessment,
    wrap(meaning, 56),
  ]);
  const days = isTrained
    ? `${overfitting.days} days out of sample`
    : `${overfitting.days} days, all used to choose the parameters`;
  return `${table(['Overfitting diagnostics', 'Value', '', 'Meaning'], rows)}\n${conclusion(diagnostics, days)}`;
}

function conclusion(diagnostics: readonly Diagnostic[], days: string): string {
  const names = (assessment: Assessment) =>
    diagnostics
      .filter((each) => each.assessment === assessment)
      .map(({ name }) => name[0]!.toLowerCase() + name.slice(1));
  const [bad, open] = [names('bad'), [...names('uncertain'), ...names('unknown')]];
  const after = `${days}; docs/hyperopt.md`;
  if (bad.length > 0) return `Probably overfitted: ${bad.join(', ')} (${after}).`;
  if (open.length > 0) return `Not proven: ${open.join(', ')} (${after}).`;
  return `No sign of overfitting (${days}). Confirm it on days that no trial has used.`;
}

type Value = number | string | boolean | Readonly<Record<string, number | boolean | undefined>>;

/** `name value` pairs of a trial's parameters; `model_type` is left out in a run without ML models. */
function parametersText(params: Readonly<Record<string, Value | undefined>>): string {
  return Object.entries(params)
    .filter(([name, value]) => name !== 'model_type' || value !== NO_MODEL)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

function valueText(value: Value | undefined): string {
  if (typeof value === 'number') return compactNumber(value);
  if (typeof value !== 'object') return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key}:${valueText(each)}`)
    .join(' ');
}

export async function printHyperopts(
  client: ApiClient,
  query: string,
  options: Pick<JobListOptions, 'json' | 'limit'>,
): Promise<void> {
  const page = await client.get<z.infer<typeof HyperoptList>>(`/api/v1/hyperopt?${query}`);
  if (options.json) return console.log(JSON.stringify(page));
  if (page.items.length === 0) {
    const isFiltered = query !== queryOf({ limit: options.limit });
    if (isFiltered) console.log(`No hyperopt job passes the filters. All: ${TOUCHSTONE} hyperopt list`);
    else console.log(`No hyperopt jobs. Start one with: ${TOUCHSTONE} hyperopt start ml_classifier --watch`);
    return;
  }
  console.log(
    table(
      [
        'Job',
        'Status',
        'Strategy',
        'Exchange',
        'Experiment',
        'Created (UTC)',
        'Trials',
        '%',
        'Best value',
        'Of trial',
        'Look-ahead',
      ],
      page.items.map((job) => [
        job.job_id,
        queueText(job),
        job.strategy,
        job.exchange,
        job.experiment_name,
        minute(job.created_at),
        `${job.current_trial} of ${job.total_trials}`,
        job.progress,
        figure(job.look_ahead, compactNumber(job.best_value)),
        job.best_trial,
        lookAheadText(job.look_ahead),
      ]),
    ),
  );
  for (const job of page.items) if (job.error) console.log(`${job.job_id}: ${job.error}`);
  if (page.next_cursor) console.log(MORE_JOBS);
}

export interface TrialsOptions {
  readonly state?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

export async function printTrials(client: ApiClient, jobId: string, options: TrialsOptions): Promise<void> {
  const { limit, state, cursor } = options;
  const query = queryOf({ limit, state, cursor });
  const page = await client.get<z.infer<typeof HyperoptTrialList>>(jobPath(jobId, `/trials?${query}`));
  if (options.json) return console.log(JSON.stringify(page));
  if (page.items.length === 0) return console.log('No trials.');
  console.log(
    table(
      [
        'Trial',
        'State',
        'Value',
        'Trades',
        'Profit',
        'Drawdown',
        'Profit factor',
        'Violation',
        'Windows',
        'Look-ahead',
        'Duplicate of',
        'Parameters',
      ],
      page.items.map((trial) => [
        trial.number,
        trial.state,
        figure(trial.look_ahead, compactNumber(trial.value)),
        trial.total_trades,
        figure(trial.look_ahead, percent(trial.total_profit_pct)),
        figure(trial.look_ahead, percent(trial.max_drawdown_pct)),
        figure(trial.look_ahead, compactNumber(trial.profit_factor)),
        trial.violation === null ? null : compactNumber(trial.violation),
        trial.windows.length,
        lookAheadText(trial.look_ahead),
        trial.duplicate_of,
        wrap(parametersText(trial.params), 46),
      ]),
    ),
  );
  for (const trial of page.items) if (trial.error) console.log(`Trial ${trial.number}: ${trial.error}`);
  if (page.next_cursor) console.log(`More exist: --cursor ${page.next_cursor}`);
}

export async function printStatus(client: ApiClient, jobId: string, json = false): Promise<void> {
  const job = await client.get<Job>(jobPath(jobId));
  console.log(json ? JSON.stringify(job) : statusText(job));
}

/** Prints the result of a completed job, the progress of another one. */
export async function printJob(client: ApiClient, jobId: string, json: boolean): Promise<void> {
  const job = await client.get<Job>(jobPath(jobId));
  if (job.status === 'completed' && !json) console.log(statusText(job));
  if (job.status === 'completed') await printResult(client, jobId, json);
  else console.log(json ? JSON.stringify(job) : statusText(job));
}

export async function cancelHyperopt(client: ApiClient, jobId: string, json = false): Promise<void> {
  const job = await client.post<Job>(jobPath(jobId, '/cancel'));
  console.log(json ? JSON.stringify(job) : statusText(job));
}

function statusText(job: Job): string {
  const { complete, pruned, failed } = job.trials;
  const { date_range, objective_metric, direction, spaces, model_types } = job.config;
  const best = job.best_trial === null ? '-' : `${compactNumber(job.best_value)} (trial ${job.best_trial})`;
  return [
    `${job.job_id}: ${queueText(job)}${job.error ? `: ${job.error}` : ''}`,
    `${job.strategy} on ${job.pairs.join(', ')} of ${job.exchange}, ${job.timeframe}, ${minute(date_range.start)} to ${minute(date_range.end)} UTC`,
    ...(job.stalled ? [`Stalled: ${job.stalled}`] : []),
    `${job.progress} %: ${job.current_trial} of ${job.total_trials} trials, ${complete} complete, ${pruned} pruned, ${failed} failed`,
    ...(job.permutations
      ? [`${job.permutations.ended} of ${job.permutations.total} searches on permuted candles`]
      : []),
    ...(spaces ? [`Searched: ${spaces.join(', ')}; models: ${model_types.join(', ')}`] : []),
    `Best ${objective_metric} (${direction}): ${figure(job.look_ahead?.state, best)}`,
    ...(job.feasible === false ? [INFEASIBLE] : []),
    ...(job.look_ahead ? [`Look-ahead: ${lookAheadText(job.look_ahead.state)}`] : []),
    ...foldWarnings(job.warnings).map((warning) => `Warning: ${warning}`),
  ].join('\n');
}
