import type { Command } from 'commander';
import type * as z from 'zod';
import type { BacktestJobList } from '#contract/backtests/backtest-api.ts';
import type { Collection } from '#contract/market-data/market-data.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import type { ApiClient } from './client.ts';
import { JSON_OPTION, UsageError } from './options.ts';
import { number, queueText, second, statusWithError } from './output.ts';
import { backtestPath, type Job, loadResults } from './reports/load-results.ts';
import { candlesText, reportText, warningLines } from './reports/report-text.ts';
import { type Service, type Session, sessionWith, sourceText } from './session.ts';

/** Commands for a job of any kind, by its ID. */
export function addJobCommands(program: Command): void {
  const sessionFor = (id: string) => sessionWith(program, serviceOf(id));
  program
    .command('show')
    .description('print a job of any kind: its progress, its report, or why it failed')
    .argument('<id>', 'bt-<id>, ho-<id>, co-<id>, ch-<id>, or last: the newest backtest')
    .option(...JSON_OPTION)
    .action((id: string, { json }: Json) => sessionFor(id)((session) => show(session, id, json)));
  program
    .command('cancel')
    .description('cancel a backtest, hyperopt job or collection that has not ended')
    .argument('<id>', 'bt-<id>, ho-<id>, co-<id>, or last: the newest backtest')
    .option(...JSON_OPTION)
    .action((id: string, { json }: Json) => sessionFor(id)(({ client }) => cancel(client, id, json)));
  program
    .command('logs')
    .description('print what happened to a job, and what its strategy printed')
    .argument('<id>', 'bt-<id>, ho-<id>, co-<id>, or last: the newest backtest')
    .option('--json', 'print JSON: events and lines of output')
    .action((id: string, { json }: Json) => sessionFor(id)((session) => logs(session, id, json)));
}

interface Json {
  readonly json?: boolean;
}

/** Reference to the newest backtest. */
export const LAST = 'last';

/** Kinds of jobs by the first letters of their IDs, with the service and the path of each. */
const KINDS = {
  bt: ['backend', '/api/v1/backtests'],
  ho: ['strategy', '/api/v1/hyperopt'],
  ch: ['strategy', '/api/v1/challenges'],
  co: ['data_collection', '/api/v1/collections'],
} as const satisfies Readonly<Record<string, readonly [Service, string]>>;

function kindOf(id: string): keyof typeof KINDS {
  const prefix = id === LAST ? 'bt' : id.slice(0, id.indexOf('-'));
  if (Object.hasOwn(KINDS, prefix)) return prefix as keyof typeof KINDS;
  throw new UsageError(
    `${id} is not the ID of a job. IDs begin with bt-, ho-, co- or ch-. List: touchstone jobs`,
  );
}

const serviceOf = (id: string): Service => KINDS[kindOf(id)][0];

/** The ID that a reference to a backtest names. @throws UsageError for the ID of another job */
export async function latestId(client: ApiClient, reference: string): Promise<string> {
  if (kindOf(reference) !== 'bt') {
    throw new UsageError(
      `${reference} is not the ID of a backtest, bt-<id>. For this one: ${TOUCHSTONE} show ${reference}`,
    );
  }
  if (reference !== LAST) return reference;
  const { items } = await client.get<z.infer<typeof BacktestJobList>>('/api/v1/backtests?limit=1');
  if (items[0]) return items[0].job_id;
  throw new Error(`There is no backtest yet. Start one: ${TOUCHSTONE} backtest ema_crossover`);
}

async function show(session: Session, id: string, json = false): Promise<void> {
  const { client } = session;
  const kind = kindOf(id);
  if (kind === 'ho') {
    const { printJob } = await import('./hyperopt/results.ts');
    await printJob(client, id, json);
  } else if (kind === 'ch') {
    const { printStatus } = await import('./challenge/status.ts');
    await printStatus(client, id, json);
  } else if (kind === 'co') {
    const job = await client.get<z.output<typeof Collection>>(`${KINDS.co[1]}/${encodeURIComponent(id)}`);
    console.log(json ? JSON.stringify(job) : collectionText(job));
  } else {
    await showBacktest(client, await client.get<Job>(backtestPath(await latestId(client, id))), json);
  }
  if (!json) console.log(`Source: ${sourceText(session)}`);
}

async function showBacktest(client: ApiClient, job: Job, json: boolean): Promise<void> {
  if (job.status === 'completed' && !job.results_deleted) {
    const results = await loadResults(client, job);
    console.log(json ? JSON.stringify(results) : `${headText(job)}\n${reportText(results)}`);
  } else console.log(json ? JSON.stringify({ job }) : unfinishedText(job));
}

function headText({ job_id, status, finished_at, experiment_name, notes, tags, expires_at }: Job): string {
  return [
    `${job_id}: ${status}${finished_at ? ` ${second(finished_at)} UTC` : ''}`,
    ...(experiment_name ? [`Experiment: ${experiment_name}`] : []),
    ...(tags.length > 0 ? [`Tags: ${tags.join(', ')}`] : []),
    ...(notes ? [`Notes: ${notes}`] : []),
    ...(expires_at ? [`Expires ${second(expires_at)} UTC. To keep it: ${TOUCHSTONE} keep ${job_id}`] : []),
  ].join('\n');
}

/** A backtest without a report. */
function unfinishedText(job: Job): string {
  const { job_id, status, progress, stalled, results_deleted } = job;
  const percent = status === 'running' && progress !== null ? `, ${number(progress * 100, 0)} %` : '';
  const state = status === 'failed' || status === 'cancelled' ? statusWithError(job) : queueText(job);
  return [
    `${job_id}: ${state}${percent}`,
    `${job.strategy} on ${candlesText(job)}`,
    ...warningLines(job),
    ...(stalled ? [`Stalled: ${stalled}`] : []),
    ...(results_deleted ? [`The results have expired. To run it again: ${TOUCHSTONE} rerun ${job_id}`] : []),
    ...(status === 'failed' ? [`Events and output: ${TOUCHSTONE} logs ${job_id}`] : []),
  ].join('\n');
}

function collectionText(job: z.output<typeof Collection>): string {
  const { collection_id, progress, candles, exchange, timeframe, symbols, created_at } = job;
  return [
    `${collection_id}: ${statusWithError(job)}, ${number(progress * 100, 0)} %, ${number(candles, 0)} candles`,
    `${symbols.join(', ')} on ${exchange}, ${timeframe}, created ${second(created_at)} UTC`,
  ].join('\n');
}

async function cancel(client: ApiClient, reference: string, json = false): Promise<void> {
  const kind = kindOf(reference);
  if (kind === 'ch') {
    throw new UsageError(
      `A challenge is ended by a rollback: touchstone challenge rollback ${reference}, or by a promotion.`,
    );
  }
  const id = kind === 'bt' ? await latestId(client, reference) : reference;
  const job = await client.post<{ status: string }>(`${KINDS[kind][1]}/${encodeURIComponent(id)}/cancel`);
  console.log(json ? JSON.stringify(job) : `${id}: ${job.status}`);
}

async function logs(session: Session, id: string, json = false): Promise<void> {
  const kind = kindOf(id);
  const { printLogs } = await import('./logs.ts');
  if (kind === 'bt') return printLogs(session, backtestPath(await latestId(session.client, id)), json);
  if (kind !== 'ch') return printLogs(session, `${KINDS[kind][1]}/${encodeURIComponent(id)}`, json);
  throw new UsageError(
    `logs takes bt-<id>, ho-<id> or co-<id>. For a challenge: touchstone challenge status ${id}`,
  );
}
