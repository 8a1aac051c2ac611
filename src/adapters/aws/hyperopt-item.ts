import * as z from 'zod';
import { JOB_STATUSES } from '#contract/backtest.ts';
import {
  type HyperoptJobIn,
  StoredHyperoptJob,
  StoredReturns,
  StoredTrial,
  TrialCounts,
} from '#contract/hyperopt.ts';
import type { HyperoptRow, TrialReturns } from '#domain/hyperopt/hyperopt-ports.ts';
import { type Item, JOB_ITEM, parseItem } from './stored-item.ts';

/** Sort keys of what a hyperopt job consists of beside its job. */
export const TRIAL_PREFIX = 'TRIAL#';
export const RETURNS_PREFIX = 'RETURNS#';
/** As many digits as the highest number of a trial has. */
const DIGITS = 6;

export function trialKey(jobId: string, number: number) {
  return { job_id: jobId, item: `${TRIAL_PREFIX}${String(number).padStart(DIGITS, '0')}` };
}

export function returnsKey(jobId: string, number: number) {
  return { job_id: jobId, item: trialKey(jobId, number).item.replace(TRIAL_PREFIX, RETURNS_PREFIX) };
}

/** The item of a new job: its fields flat, and what the list indexes need. */
export function toHyperoptItem(job: HyperoptJobIn<'pending'>): Item {
  return {
    ...job,
    item: JOB_ITEM,
    kind_status: `${job.kind}#${job.status}`,
    strategy: job.base.strategy,
  };
}

export function toTrialItem(trial: StoredTrial): Item {
  return { ...trial, ...trialKey(trial.job_id, trial.number) };
}

export function toReturnsItem(jobId: string, number: number, { firstDay, returns }: TrialReturns): Item {
  const stored: StoredReturns = {
    schema_version: 1,
    job_id: jobId,
    number,
    first_day: firstDay,
    returns: new Uint8Array(Float64Array.from(returns).buffer),
  };
  return { ...stored, ...returnsKey(jobId, number) };
}

/** Each throws SVC001 naming the item and the field when the item is not one. */
export const toHyperoptJob = (item: Item): StoredHyperoptJob => parseItem(StoredHyperoptJob, item);
export const toTrial = (item: Item): StoredTrial => parseItem(StoredTrial, item);

export function toReturns(item: Item): [number: number, returns: TrialReturns] {
  const { number, first_day, returns } = parseItem(StoredReturns, item);
  // A copy of its own is aligned.
  return [number, { firstDay: first_day, returns: new Float64Array(returns.slice().buffer) }];
}

const IndexRow = z.object({
  job_id: z.string(),
  status: z.enum(JOB_STATUSES),
  created_at: z.string(),
  updated_at: z.string(),
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  trials: TrialCounts,
  error_summary: z.string().optional(),
});

/** The list row of an index entry, or of the job itself. */
export function toHyperoptRow(item: Item): HyperoptRow {
  const { error_summary, ...row } = parseItem(IndexRow, item);
  return { ...row, error: error_summary ?? null };
}
