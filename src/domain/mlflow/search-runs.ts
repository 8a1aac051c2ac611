import { BACKTEST_ID_PREFIX, type StoredBacktestJob } from '#contract/backtests/backtest.ts';
import type { StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import type { MlflowRun } from '#contract/registry/mlflow-api.ts';
import { CodedError } from '#contract/values/errors.ts';
import { HYPEROPT_ID_PREFIX, JOB_LIST_LIMITS } from '#contract/values/job-limits.ts';
import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import { type Caller, findAccessible, type Ownership } from '../access/access.ts';
import { getBacktest } from '../backtests/get-backtest.ts';
import { getHyperopt } from '../hyperopt/get-hyperopt.ts';
import type { HyperoptRow, HyperoptStore, TrialLedger } from '../hyperopt/hyperopt-ports.ts';
import type { JobLists, JobRow } from '../jobs/job-list-ports.ts';
import type { JobStore } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { unknownHyperopt } from '../shared/unknown-resources.ts';
import { equalTo, type Field, parseFilter, parseOrders } from './filter.ts';
import { checkQuery, type ListQuery, pageOf, select } from './pages.ts';
import {
  backtestRun,
  experimentName,
  hyperoptRun,
  RUN_FIELDS,
  searchableRow,
  searchableRun,
  trialRun,
} from './runs.ts';

export interface MlflowRunsDeps {
  readonly jobs: JobStore;
  readonly hyperoptJobs: HyperoptStore;
  readonly ledger: Pick<TrialLedger, 'read'>;
  readonly cursors: Cursors;
}

type Row = JobRow | HyperoptRow;

/** Reads at once of jobs that are read whole. */
const READS_AT_ONCE = 20;

/** Tag of a trial by which a search finds the trials of a hyperopt job. */
const PARENT: Field = { group: 'tags', name: 'mlflow.parentRunId' };

/**
 * One page of the runs of some experiments that pass a filter, newest first without an order. It covers the newest 2,000 backtests and
 * 2,000 hyperopt jobs that the caller sees; trials only for a filter `tags.mlflow.parentRunId = '<hyperopt job>'`.
 * Throws VAL005, VAL006, DATA005.
 */
export async function searchRuns(
  deps: MlflowRunsDeps,
  ownership: Ownership,
  caller: Caller,
  query: ListQuery & { readonly experiment_ids?: readonly string[] | undefined },
): Promise<{ readonly runs: readonly MlflowRun[]; readonly next_page_token: string }> {
  checkQuery(query);
  const experiments = query.experiment_ids && [...new Set(query.experiment_ids)].map(experimentName);
  const scope = `runs:${query.experiment_ids?.join() ?? ''}`;
  const page = <T>(items: readonly T[]) => pageOf(deps.cursors, items, scope, query, MLFLOW_LIMITS.runs);
  const isOf = (name: string | null) => experiments === undefined || experiments.includes(name);
  const parent = equalTo(query.filter, RUN_FIELDS, PARENT);
  if (parent !== undefined) {
    const runs = (await trialsOf(deps, ownership, caller, parent)).filter(({ info }) =>
      isOf(experimentName(info.experiment_id) ?? null),
    );
    const { items, next_page_token } = page(await select(runs, query, RUN_FIELDS, searchableRun));
    return { runs: items, next_page_token };
  }
  const rows = (await newestRows(deps, caller, experiments)).filter((row) => isOf(row.experiment_name));
  if (isAboutRows(query)) {
    const { items, next_page_token } = page(await select(rows, query, RUN_FIELDS, searchableRow));
    return { runs: await readRuns(deps, items), next_page_token };
  }
  const { items, next_page_token } = page(
    await select(await readRuns(deps, rows), query, RUN_FIELDS, searchableRun),
  );
  return { runs: items, next_page_token };
}

/** True when rows of the lists have every field of the query, so that only a page of jobs is read whole. */
function isAboutRows({ filter, order_by }: ListQuery): boolean {
  const inRow = ({ group, name }: Field) =>
    group === 'attributes' || (group === 'metrics' && !OF_HYPEROPT.includes(name));
  return [...parseFilter(filter, RUN_FIELDS).fields, ...parseOrders(order_by, RUN_FIELDS)].every(inRow);
}

/** Metrics of a hyperopt job that only its run has. */
const OF_HYPEROPT = ['trials', 'complete', 'pruned', 'failed'];

/** Newest jobs of both kinds that the caller sees, the newest first. */
async function newestRows(
  { jobs, hyperoptJobs }: MlflowRunsDeps,
  caller: Caller,
  experiments: readonly (string | null | undefined)[] | undefined,
): Promise<Row[]> {
  const lists: readonly JobLists<Row>[] = [jobs, hyperoptJobs];
  // The lists find jobs of one experiment by its name, but none by the lack of one.
  const isByName =
    experiments && experiments.length <= MLFLOW_LIMITS.listed_experiments && !experiments.includes(null);
  const names: (string | undefined)[] = isByName
    ? experiments.filter((name) => typeof name === 'string')
    : [undefined];
  const found = await Promise.all(
    lists.flatMap((list) => names.map((experiment) => newestOf(list, caller, experiment))),
  );
  // The id decides between equal times: pages must not differ in the order.
  const place = ({ created_at, job_id }: Row) => `${created_at}#${job_id}`;
  return found.flat().sort((a, b) => (place(a) < place(b) ? 1 : -1));
}

async function newestOf(list: JobLists<Row>, caller: Caller, experiment: string | undefined): Promise<Row[]> {
  const filter = {
    ...(!caller.isAdmin && { visibleTo: caller }),
    ...(experiment !== undefined && { experiment_name: experiment }),
  };
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof list.list>> = await list.list(filter, 100, cursor);
    rows.push(...page.items);
    cursor = page.next;
  } while (cursor !== null && rows.length < JOB_LIST_LIMITS.searched);
  return rows;
}

/** The runs of rows, in their order. A job that was deleted meanwhile is left out. */
async function readRuns({ jobs, hyperoptJobs }: MlflowRunsDeps, rows: readonly Row[]): Promise<MlflowRun[]> {
  const runs: MlflowRun[] = [];
  for (let first = 0; first < rows.length; first += READS_AT_ONCE) {
    const read = await Promise.all(
      rows.slice(first, first + READS_AT_ONCE).map(async ({ job_id }) => {
        if (isBacktest(job_id)) return existing(await jobs.get(job_id), backtestRun);
        return existing(await hyperoptJobs.get(job_id), hyperoptRun);
      }),
    );
    runs.push(...read.filter((run) => run !== undefined));
  }
  return runs;
}

function existing<Job extends StoredBacktestJob | StoredHyperoptJob>(
  job: Job | undefined,
  view: (job: Job) => MlflowRun,
): MlflowRun | undefined {
  return job && !job.expired_at ? view(job) : undefined;
}

const isBacktest = (id: string) => id.startsWith(BACKTEST_ID_PREFIX);

/** Trials of a hyperopt job as runs. A search finds none of a job that the caller may not read, or that does not exist any more. */
async function trialsOf(
  deps: MlflowRunsDeps,
  ownership: Ownership,
  caller: Caller,
  parent: string,
): Promise<MlflowRun[]> {
  try {
    const job = await readHyperopt(deps, ownership, caller, parent);
    const trials = job.results_expired ? [] : await deps.ledger.read(parent, 0);
    return trials.map((trial) => trialRun(job, trial));
  } catch (error) {
    if (error instanceof CodedError && ['OPT001', 'AUTH005', 'RES006'].includes(error.code)) return [];
    throw error;
  }
}

/** The run of a backtest, a hyperopt job or a trial. Throws RES001, AUTH005, RES006, DATA005. */
export async function readRun(
  deps: MlflowRunsDeps,
  ownership: Ownership,
  caller: Caller,
  id: string,
): Promise<MlflowRun> {
  try {
    if (isBacktest(id)) {
      await findAccessible(ownership, caller, { kind: 'backtest', id, field: 'run_id', level: 'read' });
      return backtestRun(await getBacktest(deps, id));
    }
    const [jobId = '', number] = id.split('_', 2);
    const job = await readHyperopt(deps, ownership, caller, jobId);
    if (number === undefined) return hyperoptRun(job);
    const [trial] = /^\d{1,9}$/.test(number) ? await deps.ledger.read(jobId, Number(number), 1) : [];
    if (trial?.number !== Number(number)) throw unknownRun(id);
    return trialRun(job, trial);
  } catch (error) {
    // The client asked for a run: it does not know which kind of job that would be.
    throw error instanceof CodedError && ['RES001', 'OPT001'].includes(error.code) ? unknownRun(id) : error;
  }
}

function unknownRun(id: string): CodedError {
  const named = id.slice(0, 100);
  return new CodedError('RES001', {
    message: `Run with id=${named} not found`,
    field: 'run_id',
    context: { run_id: named },
  });
}

async function readHyperopt(
  deps: MlflowRunsDeps,
  ownership: Ownership,
  caller: Caller,
  id: string,
): Promise<StoredHyperoptJob> {
  // The table has jobs of other kinds too, such as staging checks.
  if (!id.startsWith(HYPEROPT_ID_PREFIX)) throw unknownHyperopt(id, 'run_id');
  await findAccessible(ownership, caller, { kind: 'hyperopt', id, field: 'run_id', level: 'read' });
  return getHyperopt(deps, id);
}
