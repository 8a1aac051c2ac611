import type * as z from 'zod';
import type { HyperoptList, HyperoptTrialList } from '#contract/hyperopt-api.ts';
import type { ApiClient } from '../client.ts';
import { minute, table, wrap } from '../format.ts';
import { figure, parametersText } from './figures.ts';
import { type Job, jobPath } from './watch.ts';

export interface ListOptions {
  readonly status?: string;
  readonly experiment?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** Prints hyperopt jobs, newest first. */
export async function printHyperopts(client: ApiClient, options: ListOptions): Promise<void> {
  const query = new URLSearchParams({
    limit: String(options.limit),
    ...(options.status ? { status: options.status } : {}),
    ...(options.experiment ? { experiment_name: options.experiment } : {}),
  });
  const page = await client.get<z.infer<typeof HyperoptList>>(`/api/v1/hyperopt?${query}`);
  if (options.json) return console.log(JSON.stringify(page));
  if (page.items.length === 0) {
    console.log('No hyperopt jobs. Start one with: npx touchstone hyperopt start ml_classifier --watch');
    return;
  }
  console.log(
    table(
      ['Job', 'Status', 'Strategy', 'Experiment', 'Created (UTC)', 'Trials', '%', 'Best value', 'Of trial'],
      page.items.map((job) => [
        job.job_id,
        job.status,
        job.strategy,
        job.experiment_name,
        minute(job.created_at),
        `${job.current_trial} of ${job.total_trials}`,
        job.progress,
        figure(job.best_value),
        job.best_trial,
      ]),
    ),
  );
  for (const job of page.items) if (job.error) console.log(`${job.job_id}: ${job.error}`);
  if (page.next_cursor)
    console.log('More exist: raise --limit (at most 100) or narrow by --status or --experiment.');
}

export interface TrialsOptions {
  readonly state?: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly json?: boolean;
}

/** Prints trials of a hyperopt job, by number. */
export async function printTrials(client: ApiClient, jobId: string, options: TrialsOptions): Promise<void> {
  const query = new URLSearchParams({
    limit: String(options.limit),
    ...(options.state ? { state: options.state } : {}),
    ...(options.cursor ? { cursor: options.cursor } : {}),
  });
  const page = await client.get<z.infer<typeof HyperoptTrialList>>(jobPath(jobId, `/trials?${query}`));
  if (options.json) return console.log(JSON.stringify(page));
  if (page.items.length === 0) return console.log('No trials.');
  console.log(
    table(
      ['Trial', 'State', 'Value', 'Windows', 'Duplicate of', 'Worker', 'Attempt', 'Parameters'],
      page.items.map((trial) => [
        trial.number,
        trial.state,
        figure(trial.value),
        trial.windows.length,
        trial.duplicate_of,
        trial.worker,
        trial.attempt,
        wrap(parametersText(trial.params), 46),
      ]),
    ),
  );
  for (const trial of page.items) if (trial.error) console.log(`Trial ${trial.number}: ${trial.error}`);
  if (page.next_cursor) console.log(`More exist: --cursor ${page.next_cursor}`);
}

/** Prints how far a hyperopt job is. */
export async function printStatus(client: ApiClient, jobId: string, json = false): Promise<void> {
  const job = await client.get<Job>(jobPath(jobId));
  console.log(json ? JSON.stringify(job) : statusText(job));
}

/** Cancels a hyperopt job and prints how far it was. */
export async function cancelHyperopt(client: ApiClient, jobId: string, json = false): Promise<void> {
  const job = await client.post<Job>(jobPath(jobId, '/cancel'));
  console.log(json ? JSON.stringify(job) : statusText(job));
}

function statusText(job: Job): string {
  const { complete, pruned, failed } = job.trials;
  const { date_range, objective_metric, direction, spaces, model_types } = job.config;
  const best = job.best_trial === null ? '-' : `${figure(job.best_value)} (trial ${job.best_trial})`;
  return [
    `${job.job_id}: ${job.status}${job.error ? `: ${job.error}` : ''}`,
    `${job.strategy} on ${job.pairs.join(', ')} of ${job.exchange}, ${job.timeframe}, ${minute(date_range.start)} to ${minute(date_range.end)} UTC`,
    ...(job.stalled ? [`Stalled: ${job.stalled}`] : []),
    `${job.current_trial} of ${job.total_trials} trials (${job.progress} %): ${complete} complete, ${pruned} pruned, ${failed} failed`,
    ...(spaces ? [`Searched: ${spaces.join(', ')}; models: ${model_types.join(', ')}`] : []),
    `Best ${objective_metric} (${direction}): ${best}`,
    ...job.warnings.map((warning) => `Warning: ${warning}`),
  ].join('\n');
}
