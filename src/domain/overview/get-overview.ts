import {
  OVERVIEW_PARTS,
  type Overview,
  type OverviewJob,
  type OverviewPart,
} from '#contract/platform/overview-api.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { DECIDING_ROLES } from '#contract/values/approval-limits.ts';
import { OVERVIEW_LIMITS as LIMITS } from '#contract/values/job-limits.ts';
import { type Caller, mayAccess } from '../access/access.ts';
import type { Decider } from '../approvals/approval-rules.ts';
import { listApprovals, type ReadApprovalsDeps } from '../approvals/read-approvals.ts';
import { activeChallenges, type ListCatalogDeps, visibleTo } from '../catalog/list-catalog.ts';
import { closedTrades, isAwaitingPromotion, profitOf } from '../challenges/challenge-state.ts';
import { type ListAllChallengesDeps, listAllChallenges } from '../challenges/list-all-challenges.ts';
import { freshnessOf } from '../data/get-data-freshness.ts';
import type { Log, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import type { CatalogEntry } from '../transitions/registry-store.ts';
import {
  type JobOverviewDeps,
  overviewOfBacktests,
  overviewOfCollections,
  overviewOfHyperopt,
} from './overview-jobs.ts';

export interface OverviewDeps
  extends JobOverviewDeps,
    ReadApprovalsDeps,
    Pick<ListCatalogDeps, 'registry' | 'cursors' | 'clock'> {
  readonly registry: ListCatalogDeps['registry'];
  readonly challenges: ListCatalogDeps['challenges'] & ListAllChallengesDeps['challenges'];
  readonly series: Pick<SeriesStore, 'listPage'>;
  readonly defaultExchange: string;
  readonly log: Log;
}

/** Maximum duration of a part, ms. */
const PART_MS = 4_000;
/** Maximum versions in Production that are read for a caller who may see few of them. */
const MAX_CATALOG_ROWS = 500;
/** Maximum symbols whose series are read, each up to 1.5 KB. */
const MAX_SYMBOLS = 500;
/** Threshold of a stale series, hours: the default of the freshness operations. */
const STALE_HOURS = 24;

/**
 * Jobs, models, challenges and data that the caller may see, for a page that shows all of them. The parts are read concurrently.
 * One that fails or takes longer than 4 s is reported as missing. Never throws.
 */
export async function getOverview(deps: OverviewDeps, caller: Decider): Promise<Overview> {
  const missing = new Set<OverviewPart>();
  const part = async <T>(name: OverviewPart, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await withTimeout(PART_MS, read);
    } catch (error) {
      deps.log.warn('failed to read a part of the overview', { part: name, error });
      missing.add(name);
      return null;
    }
  };
  const unfinished = readChallenges(deps, caller);
  // Awaited by two parts: its failure is theirs.
  unfinished.catch(() => undefined);
  const [backtests, hyperopt, collections, production, challenges, waiting, freshness] = await Promise.all([
    part('backtests', () => overviewOfBacktests(deps, caller)),
    part('hyperopt', () => overviewOfHyperopt(deps, caller)),
    part('collections', () => overviewOfCollections(deps)),
    part('production', () => readProduction(deps, caller)),
    part('challenges', async () => firstOf(await unfinished)),
    part('waiting', async () => readWaiting(deps, caller, await unfinished)),
    part('freshness', () => readFreshness(deps)),
  ]);
  const jobs = [backtests, hyperopt, collections].filter((each) => each !== null);
  const moving = jobs.flatMap((each) => each.moving).sort(runningFirst);
  const ended = jobs.flatMap((each) => each.ended).sort(lastEndedFirst);
  return {
    evaluated_at: isoTime(deps.clock.now()),
    missing: OVERVIEW_PARTS.filter((name) => missing.has(name)),
    counts: {
      backtests: backtests?.counts ?? null,
      hyperopt: hyperopt?.counts ?? null,
      collections: collections?.counts ?? null,
    },
    moving: moving.slice(0, LIMITS.moving),
    ended: ended.slice(0, LIMITS.ended),
    production,
    challenges,
    waiting,
    freshness,
  };
}

function runningFirst(one: OverviewJob, other: OverviewJob): number {
  if (one.status !== other.status) return one.status === 'running' ? -1 : 1;
  return one.created_at < other.created_at ? -1 : 1;
}

function lastEndedFirst(one: OverviewJob, other: OverviewJob): number {
  return (one.finished_at ?? one.created_at) > (other.finished_at ?? other.created_at) ? -1 : 1;
}

async function readProduction(
  deps: Pick<OverviewDeps, 'registry' | 'challenges' | 'clock'>,
  caller: Caller,
): Promise<Overview['production']> {
  const isVisible = await visibleTo(deps.registry, caller);
  const found: CatalogEntry[] = [];
  let read = 0;
  for await (const entry of deps.registry.catalog(
    { stage: 'Production' },
    { field: 'name', order: 'asc' },
    null,
  )) {
    read += 1;
    if (!isVisible || isVisible(entry.row)) found.push(entry);
    if (found.length > LIMITS.production || read === MAX_CATALOG_ROWS) break;
  }
  const shown = found.slice(0, LIMITS.production);
  const active = await activeChallenges(deps, shown);
  const items = shown.map(({ row }) => {
    const challenge = active.get(row.model_name);
    const active_challenge_id = challenge?.challenge_id ?? null;
    return { ...row, active_challenge_id, live: challenge ? liveFigures(challenge) : null };
  });
  return { items, more: found.length > LIMITS.production || read === MAX_CATALOG_ROWS };
}

/** Trades of the champion, which is the version in Production while the challenge is active. */
function liveFigures(challenge: StoredChallenge) {
  const { champion: trades } = closedTrades(challenge);
  const mean_profit_pct = trades > 0 ? profitOf(challenge, 'champion') / trades : null;
  return { challenge_id: challenge.challenge_id, trades, mean_profit_pct };
}

type UnfinishedChallenges = NonNullable<Overview['challenges']>;

/** Challenges that are active, and those whose winner awaits its promotion. */
async function readChallenges(deps: OverviewDeps, caller: Caller): Promise<UnfinishedChallenges> {
  const list = (status: 'active' | 'completed') =>
    listAllChallenges(deps, { caller, status, limit: LIMITS.challenges, cursor: null });
  const [active, completed] = await Promise.all([list('active'), list('completed')]);
  const all = [...active.items, ...completed.items.filter(isAwaitingPromotion)];
  const items = all.sort((one, other) => (one.created_at > other.created_at ? -1 : 1));
  return { items, more: active.next !== null };
}

function firstOf({ items, more }: UnfinishedChallenges): UnfinishedChallenges {
  return {
    items: items.slice(0, LIMITS.challenges),
    more: items.length > LIMITS.challenges || more,
  };
}

/** Requests that the caller may approve, and challenges that wait for a decision that the caller may make. */
async function readWaiting(
  deps: OverviewDeps,
  caller: Decider,
  unfinished: UnfinishedChallenges,
): Promise<Overview['waiting']> {
  const undecided = unfinished.items.filter(
    (challenge) => challenge.hold?.reason === 'approval' || isAwaitingPromotion(challenge),
  );
  const mayDecide = caller.roles.includes(DECIDING_ROLES.promote) && undecided.length > 0;
  const [requests, models] = await Promise.all([
    listApprovals(deps, { caller, waiting_for: 'me', limit: LIMITS.waiting, cursor: null }),
    mayDecide ? deps.registry.sharing.findMany(undecided.map(({ model_name }) => model_name)) : null,
  ]);
  const challenges = undecided.filter(({ model_name }) => {
    const model = models?.get(model_name);
    return model !== undefined && mayAccess(caller, model, 'write');
  });
  return {
    count: requests.items.length + challenges.length,
    approvals: [...requests.items],
    challenges,
    more: requests.next !== null || unfinished.more,
  };
}

async function readFreshness({
  series,
  defaultExchange: exchange,
  clock,
}: Pick<OverviewDeps, 'series' | 'defaultExchange' | 'clock'>): Promise<Overview['freshness']> {
  const now = clock.now();
  const { items, next } = await series.listPage(exchange, MAX_SYMBOLS, null);
  const range = { start: undefined, end: undefined };
  const stored = items.map((info) => freshnessOf(info.symbol, info, range, now, STALE_HOURS * 3_600_000));
  const oldestFirst = stored.sort((one, other) => other.age_hours! - one.age_hours!);
  return {
    exchange,
    stale_threshold_hours: STALE_HOURS,
    series: stored.length,
    complete: next === null,
    stale: stored.filter(({ fresh }) => !fresh).length,
    worst: oldestFirst.slice(0, LIMITS.worst),
  };
}
