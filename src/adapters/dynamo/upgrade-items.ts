import { isTerminal, type JobStatus } from '#contract/backtests/backtest.ts';
import { STUDY_KIND } from '#contract/hyperopt/hyperopt.ts';
import { auditPartitionOf, jobListOf, LAYOUT_VERSION, type TableId } from '#contract/values/tables.ts';
import { failureOf } from './job-records.ts';
import { listPosition } from './job-sharing.ts';
import { type Item, JOB_ITEM } from './stored-items.ts';

/** An item of one layout as the next layout stores it. */
type Upgrade = (table: TableId, item: Item) => Item;

/** Upgrade of each layout from OLDEST_LAYOUT to the next. Add one whenever LAYOUT_VERSION is raised, and never change one. */
const UPGRADES: Readonly<Record<number, Upgrade>> = { 2: toLayout3 };

/** An item of an earlier layout as this version stores it. */
export function upgradeItem(layout: number, table: TableId, item: Item): Item {
  let upgraded = item;
  for (let from = layout; from < LAYOUT_VERSION; from++) upgraded = UPGRADES[from]!(table, upgraded);
  return upgraded;
}

/** Layout 3 has a queue of jobs, and splits the lists of jobs and the audit trail of a day into four partitions. */
function toLayout3(table: TableId, item: Item): Item {
  if (table === 'registry') return withAuditShard(item);
  if (table !== 'jobs') return item;
  if (item.item === JOB_ITEM) return withQueue(item);
  if (!String(item.item).startsWith('ACCESS#')) return item;
  // The position of an access item was in `created_at`.
  const { created_at, ...access } = item;
  return { ...access, position: created_at };
}

function withAuditShard(item: Item): Item {
  const day = /^AUDIT#(\d{4}-\d\d-\d\d)$/.exec(String(item.pk))?.[1];
  if (day === undefined) return item;
  // A call and its outcome are in the same partition.
  const key = String(item.sk).replace(/#OUTCOME$/, '');
  return { ...item, pk: auditPartitionOf(day, key) };
}

function withQueue({ kind_status, ...job }: Item): Item {
  const { job_id, kind, created_at, started_at, finished_at } = job as Record<string, string>;
  const status = job.status as JobStatus;
  const list = jobListOf(kind!, job_id!);
  const isHyperopt = kind === STUDY_KIND;
  const left = started_at ?? finished_at ?? created_at;
  const queued = {
    ...job,
    schema_version: isHyperopt ? 3 : 2,
    ...(!isHyperopt && { execution_input: { ...(job.execution_input as Item), list } }),
    list,
    position: listPosition({ job_id: job_id!, created_at: created_at! }),
    runs: job.runs ?? (started_at === undefined ? 0 : 1),
    queue: { since: created_at, left_at: left, deferrals: 0 },
  };
  // The index by status lacks validations whose result is recorded.
  const inIndex = kind_status !== undefined;
  if (isTerminal(status)) return { ...queued, ...(inIndex && { list_status: `${list}#${status}` }) };
  const message =
    'The platform was upgraded before the job had ended. Submit it again; a hyperopt job can be resumed.';
  const failure = failureOf({ code: 'SVC001', message }, String(job.updated_at));
  return { ...queued, ...failure, status: 'failed', ...(inIndex && { list_status: `${list}#failed` }) };
}
