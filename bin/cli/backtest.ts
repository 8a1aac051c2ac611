import type { Command } from 'commander';
import type * as z from 'zod';
import type { BacktestJobList } from '#contract/backtests/backtest-api.ts';
import { BACKTEST_DEFAULTS, BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import { type DeflatedRatio, trialsOfScope } from '#contract/values/deflated-ratio.ts';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { statedByRepeat } from '#contract/values/repeated-config.ts';
import type { ApiClient } from './client.ts';
import { addListOptions, type JobListOptions, listQueryOf, varyingParams } from './job-list.ts';
import { latestId } from './jobs.ts';
import { boundsText, given, integer, JSON_OPTION, queryOf, readConfig, UsageError } from './options.ts';
import {
  figure,
  lookAheadText,
  MORE_JOBS,
  minute,
  number,
  percent,
  progressBar,
  queueText,
  resultText,
  statusWithError,
  table,
} from './output.ts';
import { compareResults, comparisonText } from './reports/comparison.ts';
import { backtestPath, type Job, loadResults, type Results } from './reports/load-results.ts';
import { reportText, warningLines } from './reports/report-text.ts';
import { addRunOptions, configWith, EXPERIMENT, type RunOptions } from './run-options.ts';
import { INTERRUPTED, resumeHint, type Session, sessionWith } from './session.ts';
import { withSignalsFile } from './signals.ts';

export function addBacktestCommands(program: Command): void {
  const session = sessionWith(program);
  addSubmission(
    addRunOptions(
      program
        .command('backtest')
        .description('submit a backtest, follow it and print the result')
        .argument('[strategy]', 'name of a strategy (see: touchstone strategies); none with --signals'),
    )
      .option('--config <file>', 'JSON file with fields of config; options override it')
      .option(
        '--signals <file>',
        'trade the signals of a CSV or Parquet file, or of an uploaded one: sg-<id> (docs/signals.md)',
      )
      .option(
        '--model-version <version>',
        'run a registered version: a number, latest or champion; options override its config',
      )
      .option(
        '--hyperopt <job-id>',
        'run the best parameters of a hyperopt job, ho-<id>; options override them',
      ),
  ).action(async (strategy: string | undefined, options: BacktestOptions) => {
    const config = options.config ? readConfig(options.config) : {};
    if ((strategy === undefined) === (options.signals === undefined)) {
      throw new UsageError('Pass the name of a strategy, or --signals with a file, and not both.');
    }
    process.exitCode = await session((opened) => runBacktest(opened, strategy, config, options));
  });

  addSubmission(
    withoutDefaults(
      addRunOptions(
        program
          .command('rerun')
          .description(
            'run a backtest again with the settings that options change, and compare both; the others are those of the earlier one',
          )
          .argument('<job-id>', 'bt-<id>, or last'),
      ),
    ),
  ).action(async (jobId: string, options: BacktestOptions) => {
    process.exitCode = await session((opened) => rerun(opened, jobId, options));
  });

  addListOptions(
    program.command('jobs').description('list backtests, newest first'),
    'sharpe, sortino, calmar, profit, drawdown, trades, deflated',
  )
    .option(...JSON_OPTION)
    .action((options: JobListOptions) =>
      session(({ client }) => printJobs(client, listQueryOf(program, options), options)),
    );
}

/** Removes the defaults of new backtests from the help. */
function withoutDefaults(command: Command): Command {
  for (const option of command.options) {
    option.description = option.description.replace(/ \(default: [^()]*\)/, '');
  }
  return command;
}

/** Options of a command that submits a backtest. */
function addSubmission(command: Command): Command {
  return command
    .option(...EXPERIMENT)
    .option(
      '--priority <n>',
      `${boundsText(BACKTEST_LIMITS.priority)}, high first (default: ${BACKTEST_DEFAULTS.priority})`,
      integer(BACKTEST_LIMITS.priority),
    )
    .option('--no-wait', 'print the job id and return')
    .option('--json', 'print one line of JSON: job, report and daily equity');
}

/** Options of {@link submit}. */
interface SubmitOptions {
  readonly experiment?: string;
  readonly priority?: number;
  readonly wait: boolean;
  readonly json?: boolean;
}

interface BacktestOptions extends RunOptions, SubmitOptions {
  readonly config?: string;
  readonly signals?: string;
  readonly modelVersion?: string;
  readonly hyperopt?: string;
}

const POLL_MS = 100;

/** Returns the exit code. */
export async function runBacktest(
  session: Session,
  strategy: string | undefined,
  base: Readonly<Record<string, unknown>>,
  options: BacktestOptions,
): Promise<number> {
  const { modelVersion: model_version, hyperopt: hyperopt_job_id, signals } = options;
  const settings = configWith(base, options);
  const config = signals
    ? await withSignalsFile(session.client, signals, settings)
    : { ...settings, strategy };
  const request = { config, model_version, hyperopt_job_id };
  const job = await submit(session, request, options);
  if (!job) return 0;
  if (job.status !== 'completed') return printUnfinished(job, options.json);
  const results = await loadResults(session.client, job);
  console.log(options.json ? JSON.stringify(results) : reportText(results));
  return 0;
}

/** Runs the configuration of a backtest with other settings and compares both. Returns the exit code. */
async function rerun(session: Session, reference: string, options: BacktestOptions): Promise<number> {
  const { client } = session;
  const before = await client.get<Job>(backtestPath(await latestId(client, reference)));
  const { config, registered, found_by, experiment_name } = before;
  const request = {
    config: configWith({ ...config, ...statedByRepeat(before) }, options),
    model_version: registered?.version,
    hyperopt_job_id: found_by?.hyperopt_job_id,
  };
  const job = await submit(session, request, {
    ...options,
    experiment: options.experiment ?? experiment_name ?? undefined,
  });
  if (!job) return 0;
  if (job.status !== 'completed') return printUnfinished(job, options.json);
  const results = await loadResults(client, job);
  const compared = before.status === 'completed' ? await loadResults(client, before) : null;
  const comparison = compared && compareResults(compared, results);
  console.log(
    options.json ? JSON.stringify({ ...results, comparison }) : rerunText(results, before, compared),
  );
  return 0;
}

function rerunText(results: Results, before: Job, compared: Results | null): string {
  const comparison = compared
    ? comparisonText(compared, results)
    : `${before.job_id} ${statusWithError(before)}: there is no result to compare with.`;
  return `${reportText(results)}\n\n${comparison}`;
}

/** Submits a request and follows the job to its end; null without waiting. */
export async function submit(
  session: Session,
  request: Readonly<Record<string, unknown>>,
  { experiment, priority, wait, json }: SubmitOptions,
): Promise<Job | null> {
  const { client } = session;
  const body = given({ ...request, experiment_name: experiment, priority });
  const submitted = await client.post<{ job_id: string; warnings: string[] }>('/api/v1/backtests', body);
  if (!json) console.log(`Submitted ${submitted.job_id}`);
  else if (!wait) console.log(JSON.stringify(submitted));
  if (!wait) {
    // The report has them otherwise.
    if (!json) for (const warning of foldWarnings(submitted.warnings)) console.log(`Warning: ${warning}`);
    return null;
  }
  const hint = () => {
    console.error(`\n${resumeHint(session, `show ${submitted.job_id}`)}`);
    process.exit(INTERRUPTED);
  };
  // A platform that was started for this command must stop in order.
  if (!session.temporary) process.once('SIGINT', hint);
  return follow(client, submitted.job_id).finally(() => process.off('SIGINT', hint));
}

async function follow(client: ApiClient, jobId: string): Promise<Job> {
  const bar = progressBar('{status} [{bar}] {percentage} %');
  bar.start(100, 0, { status: 'pending' });
  try {
    for (;;) {
      const job = await client.get<Job>(backtestPath(jobId));
      const done = job.status === 'completed' ? 1 : (job.progress ?? 0);
      bar.update(Math.floor(done * 100), { status: queueText(job) });
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    bar.stop();
  }
}

/** Prints a job without a result. Returns the exit code. */
export function printUnfinished(job: Job, json: boolean | undefined): number {
  if (json) console.log(JSON.stringify({ job }));
  else for (const line of warningLines(job)) console.log(line);
  const message = `${job.job_id} ${statusWithError(job)}`;
  console.error(json ? JSON.stringify({ error: { message } }) : message);
  return 1;
}

/** `0.388, 4 trials of the owner`. */
function deflatedCell(deflation: DeflatedRatio): string {
  return `${number(deflation.deflated_sharpe_ratio, 3)}, ${trialsOfScope(deflation)}`;
}

async function printJobs(
  client: ApiClient,
  query: string,
  { json, limit }: Pick<JobListOptions, 'json' | 'limit'>,
): Promise<void> {
  const page = await client.get<z.infer<typeof BacktestJobList>>(`/api/v1/backtests?${query}`);
  if (json) return console.log(JSON.stringify(page));
  const { items, next_cursor } = page;
  if (items.length === 0) {
    const isFiltered = query !== queryOf({ limit });
    console.log(
      isFiltered
        ? `No backtest passes the filters. All: ${TOUCHSTONE} jobs`
        : `No backtests. Start one with: ${TOUCHSTONE} backtest ema_crossover`,
    );
    return;
  }
  const columns = jobColumns(items);
  console.log(
    table(
      columns.map(([title]) => title),
      items.map((job) => columns.map(([, cell]) => cell(job) ?? null)),
    ),
  );
  for (const job of items) if (job.error) console.log(`${job.job_id}: ${job.error}`);
  if (next_cursor) console.log(MORE_JOBS);
}

type ListedJob = z.infer<typeof BacktestJobList>['items'][number];
type JobColumn = readonly [title: string, cell: (job: ListedJob) => string | number | null | undefined];

/** Columns of the listed jobs; owner, session, tags and parameters only where they tell jobs apart. */
function jobColumns(jobs: readonly ListedJob[]): readonly JobColumn[] {
  const facts: readonly JobColumn[] = [
    ['Owner', ({ owner }) => owner],
    ['Session', ({ session }) => session],
    ['Tags', ({ tags }) => tags.join(', ') || null],
    ...varyingParams(jobs.map(({ params }) => params)).map(
      (name): JobColumn => [name, ({ params }) => params[name]?.toString()],
    ),
  ];
  return [
    ['Job', ({ job_id }) => job_id],
    ['Status', (job) => queueText(job)],
    ['Strategy', ({ strategy }) => strategy],
    ['Exchange', ({ exchange }) => exchange],
    ['Experiment', ({ experiment_name }) => experiment_name],
    ...facts.filter(([, cell]) => new Set(jobs.map(cell)).size > 1),
    ['Created (UTC)', ({ created_at }) => minute(created_at)],
    [
      'Trades',
      ({ look_ahead, result }) => (result ? figure(look_ahead, number(result.total_trades, 0)) : '-'),
    ],
    ['Profit', ({ look_ahead, result }) => figure(look_ahead, percent(result?.total_profit_pct))],
    ['Sharpe', ({ look_ahead, result }) => figure(look_ahead, resultText(result, 'sharpe_ratio'))],
    ['Deflated', ({ look_ahead, deflation }) => deflation && figure(look_ahead, deflatedCell(deflation))],
    ['Look-ahead', ({ look_ahead }) => lookAheadText(look_ahead)],
  ];
}
