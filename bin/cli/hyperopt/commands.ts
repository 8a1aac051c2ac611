import { type Command, InvalidArgumentError, Option } from 'commander';
import type * as z from 'zod';
import type { HyperoptStart } from '#contract/hyperopt/hyperopt-api.ts';
import { BACKTEST_DEFAULTS, BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import {
  DIRECTIONS,
  HYPEROPT_DEFAULTS,
  HYPEROPT_LIMITS,
  NAMED_CONSTRAINTS,
  NO_MODEL,
  PRUNERS,
  SAMPLERS,
  SPACES,
  TRIAL_STATES,
} from '#contract/values/hyperopt-limits.ts';
import { withoutReplacedLimit } from '#contract/values/repeated-config.ts';
import { type AccountOptions, accountFields } from '../account-options.ts';
import type { ApiClient } from '../client.ts';
import { addListOptions, type JobListOptions, listQueryOf } from '../job-list.ts';
import {
  boundsText,
  finiteNumber,
  given,
  integer,
  jsonOrText,
  LIMIT,
  listOf,
  parameter,
  readConfig,
  UsageError,
} from '../options.ts';
import { addAccountOptions, addMarketOptions, EXPERIMENT } from '../run-options.ts';
import { INTERRUPTED, type RunInSession, resumeHint, type Session, sessionWith } from '../session.ts';
import {
  cancelHyperopt,
  printFinalResult,
  printHyperopts,
  printResult,
  printStatus,
  printTrials,
  type TrialsOptions,
} from './results.ts';
import { jobPath, showProgress, watchHyperopt } from './watch.ts';

interface Json {
  readonly json?: boolean;
}

const WATCH = ['--watch', 'follow it to its end and print the result; Ctrl-C stops watching only'] as const;
const JSON_LINES = ['--json', 'print JSON, one line per event'] as const;

export function addHyperoptCommands(program: Command): void {
  const hyperopt = program
    .command('hyperopt')
    .description('search the parameters of a strategy and its ML model (docs/hyperopt.md)');
  const session = sessionWith(program, 'strategy');
  addStart(hyperopt, session);
  hyperopt
    .command('resume')
    .description('resume a cancelled or failed hyperopt job as a new one that keeps its finished trials')
    .argument('<job-id>', 'ho-<id>')
    .option(...WATCH)
    .option(...JSON_LINES)
    .action(async (jobId: string, options: WatchOptions) => {
      process.exitCode = await session(async (opened) =>
        printStart(opened, await resumeHyperopt(opened.client, jobId), options),
      );
    });

  const ofJob = (name: string, description: string, json: string = 'print the raw JSON response') =>
    hyperopt.command(name).description(description).argument('<job-id>', 'ho-<id>').option('--json', json);

  ofJob('status', 'print the progress of a hyperopt job').action((jobId: string, { json }: Json) =>
    session(({ client }) => printStatus(client, jobId, json)),
  );
  ofJob('watch', 'follow a hyperopt job to its end and print its result', JSON_LINES[1]).action(
    async (jobId: string, { json }: Json) => {
      process.exitCode = await session((opened) => watchAndPrint(opened, jobId, json));
    },
  );
  ofJob('result', 'print the best trials of a completed hyperopt job and its overfitting diagnostics').action(
    (jobId: string, { json }: Json) => session(({ client }) => printResult(client, jobId, json)),
  );
  ofJob('trials', 'list the trials of a hyperopt job, by number')
    .addOption(new Option('--state <state>', 'only trials in this state').choices(TRIAL_STATES))
    .option(...LIMIT)
    .option('--cursor <cursor>', 'cursor that the previous page printed')
    .action((jobId: string, options: TrialsOptions) =>
      session(({ client }) => printTrials(client, jobId, options)),
    );
  ofJob('cancel', 'cancel a hyperopt job; finished trials are kept').action((jobId: string, { json }: Json) =>
    session(({ client }) => cancelHyperopt(client, jobId, json)),
  );
  addListOptions(
    hyperopt.command('list').description('list hyperopt jobs, newest first'),
    'best_value, progress, deflated',
  )
    .option('--json', 'print the raw JSON response')
    .action((options: JobListOptions) =>
      session(({ client }) => printHyperopts(client, listQueryOf(program, options), options)),
    );
}

interface WatchOptions extends Json {
  readonly watch?: boolean;
}

type IntegerLimit = 'n_trials' | 'train_period_days' | 'backtest_period_days' | 'seed' | 'workers';

/** An option of an integer field: its bounds and its default are those of the request. */
function integerOption(flags: string, field: IntegerLimit, description: string): Option {
  const limits = HYPEROPT_LIMITS[field];
  const text = `${description}, ${boundsText(limits)} (default: ${HYPEROPT_DEFAULTS[field]})`;
  return new Option(flags, text).argParser(integer(limits));
}

const rangeDefault = ([min, max]: readonly [number, number]) => `(default: ${min}..${max})`;

/** Long because it is the list of the command's options. */
function addStart(hyperopt: Command, session: RunInSession): void {
  addAccountOptions(
    addMarketOptions(
      hyperopt
        .command('start')
        .description(
          'start a hyperopt job; a trial is a walk-forward backtest, with --models none a plain backtest',
        )
        .argument('<strategy>', 'name of a strategy (see: touchstone strategies)')
        .addOption(integerOption('--trials <n>', 'n_trials', 'number of trials')),
    ),
  )
    .addOption(integerOption('--train-days <n>', 'train_period_days', 'training days per window'))
    .addOption(
      integerOption(
        '--backtest-days <n>',
        'backtest_period_days',
        'out-of-sample days per window; without ML models the length of a window',
      ),
    )
    .option(
      '--start <time>',
      `first traded candle, ISO 8601, UTC (default: four backtest periods before the end; ${BACKTEST_DEFAULTS.date_range_days} days without ML models)`,
    )
    .option('--end <time>', 'ISO 8601, UTC, exclusive (default: the newest stored candle)')
    .option(
      '--objective <metric>',
      `metric of the result, or with --direction an expression of metrics (default: ${HYPEROPT_DEFAULTS.objective_metric})`,
    )
    .option(
      '--constraint <name=limit>',
      `limit that the best trial keeps: ${Object.keys(NAMED_CONSTRAINTS).join(', ')}; repeatable`,
      parameter,
      {},
    )
    .addOption(
      new Option(
        '--direction <direction>',
        'of the objective (default: the better one for the metric)',
      ).choices(DIRECTIONS),
    )
    .option(
      '--models <list>',
      `comma-separated kinds of ML models, such as xgboost,lightgbm; ${NO_MODEL}: the strategy without ML models`,
    )
    .option('--spaces <list>', `comma-separated search spaces: ${SPACES.join(',')}`)
    .option(
      '--trees <min..max>',
      `number of trees ${rangeDefault(HYPEROPT_DEFAULTS.n_estimators_range)}`,
      range,
    )
    .option(
      '--learning-rate <min..max>',
      `learning rate ${rangeDefault(HYPEROPT_DEFAULTS.learning_rate_range)}`,
      range,
    )
    .option(
      '--search <parameter>',
      'strategy parameter: name, name=min..max, with a grid name=min..max:step, or name=a,b,c; repeatable',
      searched,
      {},
    )
    // Name of earlier releases.
    .addOption(new Option('--slots <n>').argParser(integer(BACKTEST_LIMITS.max_open_trades)).hideHelp())
    .addOption(
      new Option(
        '--sampler <sampler>',
        `how trials are suggested (default: ${HYPEROPT_DEFAULTS.sampler})`,
      ).choices(SAMPLERS),
    )
    .addOption(
      new Option(
        '--pruner <pruner>',
        `how bad trials are ended early (default: ${HYPEROPT_DEFAULTS.pruner})`,
      ).choices(PRUNERS),
    )
    .addOption(integerOption('--seed <n>', 'seed', 'equal seeds give equal trials'))
    .addOption(integerOption('--workers <n>', 'workers', 'tasks that run trials concurrently'))
    .addOption(
      new Option(
        '--permutations <n>',
        `repeat the search on permuted candles, for the p-value of its best, ${boundsText(HYPEROPT_LIMITS.permutations)} (default: none)`,
      ).argParser(integer(HYPEROPT_LIMITS.permutations)),
    )
    .option(...EXPERIMENT)
    .option('--config <file>', 'JSON file with fields of the request; options override it')
    .option(...WATCH)
    .option(...JSON_LINES)
    .action(async (strategy: string, options: StartOptions & WatchOptions & { readonly config?: string }) => {
      const body = options.config ? readConfig(options.config) : {};
      process.exitCode = await session(async (opened) =>
        printStart(opened, await startHyperopt(opened.client, strategy, body, options), options),
      );
    });
}

/** Prints the job that was started and, with --watch, follows it. Returns the exit code. */
async function printStart(
  session: Session,
  started: z.infer<typeof HyperoptStart>,
  { json = false, watch = false }: WatchOptions,
): Promise<number> {
  const { job_id, n_trials, strategy, warnings } = started;
  if (json) console.log(JSON.stringify(watch ? { event: 'start', data: started } : started));
  else {
    console.log(`Started ${job_id}: ${n_trials} trials of ${strategy}`);
    for (const warning of warnings) console.log(`Warning: ${warning}`);
  }
  if (watch) return watchAndPrint(session, job_id, json);
  if (!json) console.log(resumeHint(session, `hyperopt watch ${job_id}`));
  return 0;
}

async function watchAndPrint(session: Session, jobId: string, json = false): Promise<number> {
  const { client } = session;
  const left = new AbortController();
  const leave = () => left.abort();
  process.once('SIGINT', leave);
  const progress = showProgress(process.stdout, json);
  const job = await watchHyperopt(client, jobId, progress, left.signal).finally(() => {
    progress.end();
    process.off('SIGINT', leave);
  });
  if (job) return printFinalResult(client, job, json);
  // Programs read stdout.
  console.error(resumeHint(session, `hyperopt watch ${jobId}`));
  return INTERRUPTED;
}

interface StartOptions extends AccountOptions {
  readonly trials?: number;
  readonly exchange?: string;
  readonly precision?: string;
  readonly offline?: boolean;
  readonly tradingMode?: string;
  readonly pairs?: string;
  readonly timeframe?: string;
  readonly trainDays?: number;
  readonly backtestDays?: number;
  readonly start?: string;
  readonly end?: string;
  readonly objective?: string;
  readonly direction?: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
  readonly models?: string;
  readonly trees?: readonly [number, number];
  readonly learningRate?: readonly [number, number];
  readonly search?: Readonly<Record<string, object>>;
  readonly spaces?: string;
  readonly stake?: number | string;
  readonly wallet?: number;
  readonly maxOpenTrades?: number;
  /** Earlier name of `maxOpenTrades`. */
  readonly slots?: number;
  readonly fee?: number;
  readonly slippage?: number;
  readonly slippageModel?: Readonly<Record<string, unknown>>;
  readonly leverage?: number;
  readonly sampler?: string;
  readonly pruner?: string;
  readonly seed?: number;
  readonly workers?: number;
  readonly permutations?: number;
  readonly experiment?: string;
}

/** @param body fields of the request; options override them */
export function startHyperopt(
  client: ApiClient,
  strategy: string,
  body: Readonly<Record<string, unknown>>,
  options: StartOptions,
): Promise<z.infer<typeof HyperoptStart>> {
  const base = withoutReplacedLimit(body, accountFields(options, body));
  return client.post('/api/v1/hyperopt', { ...base, ...requestOf(body, options), strategy });
}

function resumeHyperopt(client: ApiClient, jobId: string): Promise<z.infer<typeof HyperoptStart>> {
  return client.post(jobPath(jobId, '/resume'));
}

function requestOf(body: Readonly<Record<string, unknown>>, options: StartOptions): object {
  const { pairs, models, search = {}, start, end } = options;
  const range = given({ start, end });
  return given({
    n_trials: options.trials,
    exchange: options.exchange,
    precision: options.precision,
    collect: options.offline ? 'never' : undefined,
    trading_mode: options.tradingMode,
    pairs: pairs && listOf(pairs),
    timeframe: options.timeframe,
    train_period_days: options.trainDays,
    backtest_period_days: options.backtestDays,
    date_range: Object.keys(range).length > 0 ? { ...Object(body.date_range), ...range } : undefined,
    objective_metric: options.objective,
    direction: options.direction,
    constraints: constraintsOf(body.constraints, options.constraint ?? {}),
    model_types: models && listOf(models),
    n_estimators_range: options.trees,
    learning_rate_range: options.learningRate,
    search: Object.keys(search).length > 0 ? { ...Object(body.search), ...search } : undefined,
    spaces: options.spaces && listOf(options.spaces),
    stake_amount: options.stake,
    dry_run_wallet: options.wallet,
    max_open_trades: options.maxOpenTrades ?? options.slots,
    fee: options.fee,
    slippage: options.slippage,
    slippage_model: options.slippageModel && { ...Object(body.slippage_model), ...options.slippageModel },
    leverage: options.leverage,
    ...accountFields(options, body),
    sampler: options.sampler,
    pruner: options.pruner,
    seed: options.seed,
    workers: options.workers,
    permutations: options.permutations,
    experiment_name: options.experiment,
  });
}

/** Constraints of the options over those of the body, which must be an object too. */
function constraintsOf(body: unknown, asked: Readonly<Record<string, unknown>>): unknown {
  if (Object.keys(asked).length === 0) return undefined;
  if (!Array.isArray(body)) return { ...Object(body), ...asked };
  throw new UsageError('--constraint does not combine with a list of constraints in --config: add it there.');
}

/** Parses `min..max`. */
export function range(text: string): [number, number] {
  const parts = text.split('..').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (parts.length === 2 && parts.every(Number.isFinite)) return parts as [number, number];
  throw new InvalidArgumentError('Pass min..max, such as 50..300.');
}

/** Adds one parameter: `name`, `name=min..max`, `name=min..max:step` or `name=a,b,c`. */
export function searched(text: string, previous: Readonly<Record<string, object>>): Record<string, object> {
  const [, name, , what] = /^([^=]+)(=(.+))?$/.exec(text) ?? [];
  if (!name) throw new InvalidArgumentError('Pass name, name=min..max or name=a,b,c.');
  if (what === undefined) return { ...previous, [name]: {} };
  if (what.includes('..')) {
    const [bounds = '', step] = what.split(':');
    const [min, max] = range(bounds);
    return { ...previous, [name]: { min, max, ...(step !== undefined && { step: finiteNumber(step) }) } };
  }
  return { ...previous, [name]: { choices: listOf(what).map(jsonOrText) } };
}
