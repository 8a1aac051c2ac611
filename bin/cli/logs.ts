import type * as z from 'zod';
import type { HyperoptJob } from '#contract/hyperopt/hyperopt-api.ts';
import type { Collection } from '#contract/market-data/market-data.ts';
import { duration, escapeControlChars, number, second, statusWithError } from './output.ts';
import type { Job } from './reports/load-results.ts';
import { warningLines } from './reports/report-text.ts';
import { type Session, sourceText } from './session.ts';

type Hyperopt = z.output<typeof HyperoptJob>;
type Logged = Job | Hyperopt | Collection;

interface JobEventLine {
  readonly at: string;
  readonly text: string;
}

/** Prints the life of a job, and what its tasks printed. A collection runs in the service: it has no task. */
export async function printLogs(session: Session, path: string, json: boolean): Promise<void> {
  const { client, platform } = session;
  const job = await client.get<Logged>(path);
  const isCollection = 'collection_id' in job;
  const id = isCollection ? job.collection_id : job.job_id;
  const events = eventsOf(job);
  const { readTaskLog } = await import('#adapters/local/task-log.ts');
  const output = platform && !isCollection ? await readTaskLog(platform.storage, id) : null;
  if (json)
    return console.log(JSON.stringify({ [isCollection ? 'collection_id' : 'job_id']: id, events, output }));
  for (const { at, text } of events) console.log(`${second(at)} ${text}`);
  if ('strategy' in job) for (const line of warningLines(job)) console.log(line);
  if (isCollection) console.log('Its requests to the exchange are in the log of the platform.');
  else if (output === null) console.log(`Output of its tasks: ${sourceOfLogs(session, id)}`);
  else {
    console.log(output.length > 0 ? 'Output of its tasks:' : 'Its tasks printed nothing.');
    for (const line of output) console.log(`  ${escapeControlChars(line)}`);
  }
  console.log(`Source: ${sourceText(session)}`);
}

function sourceOfLogs({ client }: Session, id: string): string {
  const tasks = id.startsWith('ho-') ? 'hyperopt' : 'backtest';
  return `${client.baseUrl} keeps it in CloudWatch Logs, in the log group of the stage's ${tasks} tasks (docs/runbook.md)`;
}

/** Life of a job, in order of time. */
function eventsOf(job: Logged): JobEventLine[] {
  const events =
    'collection_id' in job
      ? collectionEvents(job)
      : 'total_trials' in job
        ? hyperoptEvents(job)
        : backtestEvents(job);
  return events.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

function collectionEvents(job: Collection): JobEventLine[] {
  const { created_at, updated_at, symbols, timeframe, exchange, status, progress, candles } = job;
  const state = status === 'running' ? `running: ${number(progress * 100, 0)} %` : statusWithError(job);
  return [
    { at: created_at, text: `submitted: ${symbols.join(', ')}, ${timeframe}, ${exchange}` },
    ...(status === 'pending'
      ? []
      : [{ at: updated_at, text: `${state}, ${number(candles, 0)} new candles` }]),
  ];
}

function hyperoptEvents(job: Hyperopt): JobEventLine[] {
  const { started_at, finished_at, total_trials, current_trial, trials, resumed_from } = job;
  const ended = `${trials.complete} complete, ${trials.pruned} pruned, ${trials.failed} failed trials`;
  return [
    ...submission(job, `${total_trials} trials${resumed_from ? `, resumes ${resumed_from}` : ''}`),
    ...(started_at ? [{ at: started_at, text: 'started' }] : []),
    ...(job.stalled ? [{ at: job.updated_at, text: `stalled: ${job.stalled}` }] : []),
    ...(job.status === 'running'
      ? [{ at: job.updated_at, text: `${current_trial} of ${total_trials} trials` }]
      : []),
    ...(finished_at ? [{ at: finished_at, text: `${statusWithError(job)}; ${ended}` }] : []),
  ];
}

function backtestEvents(job: Job): JobEventLine[] {
  const { started_at, finished_at, durations, attempt } = job;
  const waited = durations.queue_ms === null ? '' : `, after ${duration(durations.queue_ms)} in the queue`;
  const took = durations.run_ms === null ? '' : `, after ${duration(durations.run_ms)}`;
  return [
    ...submission({ ...job, timeframe: job.config.timeframe, exchange: job.config.exchange }),
    ...(started_at
      ? [{ at: started_at, text: `started: attempt ${attempt}, lane ${job.lane}${waited}` }]
      : []),
    ...(job.stalled ? [{ at: job.updated_at, text: `stalled: ${job.stalled}` }] : []),
    ...(finished_at ? [{ at: finished_at, text: `${statusWithError(job)}${took}` }] : []),
  ];
}

/** Submission and data collection of a job. */
function submission(
  job: Pick<Hyperopt, 'created_at' | 'strategy' | 'timeframe' | 'exchange' | 'collection'>,
  more = '',
): JobEventLine[] {
  const { created_at, strategy, timeframe, exchange, collection } = job;
  const what = [strategy, timeframe, exchange, ...(more ? [more] : [])].join(', ');
  return [
    { at: created_at, text: `submitted: ${what}` },
    ...(collection
      ? [{ at: collection.at, text: `market data collection ${collection.status}: ${collection.message}` }]
      : []),
  ];
}
