import type * as z from 'zod';
import { NO_MODEL } from '#contract/hyperopt.ts';
import type { HyperoptResult, HyperoptTrial, HyperoptTrialList } from '#contract/hyperopt-api.ts';
import type { ApiClient } from '../client.ts';
import { table, wrap } from '../format.ts';
import { figure, parametersText } from './figures.ts';
import { honestyText } from './honesty.ts';
import { type Job, jobPath } from './watch.ts';

type Result = z.infer<typeof HyperoptResult>;
type Trial = z.infer<typeof HyperoptTrial>;

/** Prints the result of a study that has ended, or why it has none. Answers the exit code. */
export async function printEnd(client: ApiClient, job: Job, json = false): Promise<number> {
  if (job.status === 'completed') {
    await printResult(client, job.job_id, json);
    return 0;
  }
  if (!json) for (const warning of job.warnings) console.log(`Warning: ${warning}`);
  console.error(`${job.job_id} is ${job.status}${job.error ? `: ${job.error}` : ''}`);
  return 1;
}

/** Prints the best trials of a completed study, and how far to believe them. */
export async function printResult(client: ApiClient, jobId: string, json = false): Promise<void> {
  const result = await client.get<Result>(jobPath(jobId, '/result'));
  if (json) {
    console.log(JSON.stringify({ event: 'result', data: result }));
    return;
  }
  const { strategy } = await client.get<Job>(jobPath(jobId));
  const numbers = result.best_trials.map(({ number }) => number);
  console.log(bestTable(result, await windowsOf(client, jobId, numbers)));
  console.log(honestyText(result.honesty, result.best_params.model_type !== NO_MODEL));
  for (const warning of result.warnings) console.log(`Warning: ${warning}`);
  console.log(`Best: ${parametersText(result.best_params)}`);
  console.log(`Backtest it: npx touchstone backtest ${strategy} --hyperopt ${jobId}`);
}

/** The values of the windows of complete trials, by number. */
async function windowsOf(
  client: ApiClient,
  jobId: string,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Trial['windows']>> {
  const found = new Map<number, Trial['windows']>();
  for (let cursor: string | null = ''; cursor !== null && found.size < numbers.length; ) {
    const query = new URLSearchParams({ state: 'complete', limit: '100', ...(cursor && { cursor }) });
    const page: z.infer<typeof HyperoptTrialList> = await client.get(jobPath(jobId, `/trials?${query}`));
    for (const { number, windows } of page.items) if (numbers.includes(number)) found.set(number, windows);
    cursor = page.next_cursor;
  }
  return found;
}

function bestTable({ best_trials }: Result, windows: ReadonlyMap<number, Trial['windows']>): string {
  return table(
    ['Trial', 'Value', 'Windows', 'Worst', 'Median', 'Best', 'Parameters'],
    best_trials.map(({ number, value, params }) => {
      const reached = windows.get(number) ?? [];
      const sorted = reached.filter((each) => each !== null).sort((a, b) => a - b);
      const at = (share: number) => figure(sorted[Math.round(share * (sorted.length - 1))] ?? null);
      return [number, figure(value), reached.length, at(0), at(0.5), at(1), wrap(parametersText(params), 46)];
    }),
  );
}
