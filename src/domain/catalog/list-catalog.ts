import type { CatalogStrategy } from '#contract/registry/catalog-api.ts';
import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import type { CatalogRow } from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { comparableValue } from '#contract/values/undefined-metrics.ts';
import { type Caller, principalsOf } from '../access/access.ts';
import { applyDeadlines } from '../challenges/apply-deadlines.ts';
import { begin } from '../challenges/challenge-state.ts';
import type { ChallengeStore } from '../challenges/challenge-store.ts';
import type { Clock } from '../ports.ts';
import type { Cursors, Scope } from '../shared/cursors.ts';
import { checkTimeframe } from '../shared/validate.ts';
import { comesBefore } from '../transitions/catalog-order.ts';
import type {
  CatalogEntry,
  CatalogFilter,
  CatalogPosition,
  CatalogSort,
  RegistryStore,
} from '../transitions/registry-store.ts';
import { sameRunIn } from '../transitions/same-run.ts';

export interface ListCatalogInput {
  /** Admins see all versions; others see versions of models they own or that are shared with them. */
  readonly caller: Caller;
  readonly stage?: CatalogRow['stage'] | undefined;
  readonly exchange?: string | undefined;
  readonly timeframe?: string | undefined;
  /** Text in name, description, tags or pairs; case-insensitive. */
  readonly search?: string | undefined;
  readonly min_sharpe?: number | undefined;
  /** Percent, of either sign. */
  readonly max_drawdown?: number | undefined;
  readonly sort_field: CatalogSort['field'];
  readonly sort_order: CatalogSort['order'];
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

export interface ListCatalogDeps {
  readonly registry: RegistryStore;
  readonly challenges: Pick<ChallengeStore, 'activeOf'>;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

export interface CatalogPage {
  readonly items: readonly CatalogStrategy[];
  /** Rows that pass the filters, on all pages. */
  readonly total: number;
  readonly limit: number;
  /** Rows before this page. */
  readonly offset: number;
  readonly next_cursor: string | null;
}

const POSITION_LENGTH: CatalogPosition['length'] = 3;

/**
 * One page of the versions in Production and Staging that the caller can access. For an admin without a filter except
 * the stage, only the page is read from its index, and the total comes from a counter. Otherwise every row of the stage
 * is read once, since any of them may count.
 * Throws VAL003 for an invalid timeframe, VAL005 for a cursor together with an offset, VAL006 for a cursor of another
 * list.
 */
export async function listCatalog(deps: ListCatalogDeps, input: ListCatalogInput): Promise<CatalogPage> {
  if (input.timeframe !== undefined) checkTimeframe(input.timeframe, 'timeframe');
  const scope = scopeOf(input);
  const start = startOf(deps.cursors, input, scope);
  const passes = filterOf(input, await visibleTo(deps.registry, input.caller));
  const { rows, total } = passes
    ? await readFiltered(deps.registry, input, start, passes)
    : await readPage(deps.registry, input, start);
  const page = rows.slice(0, input.limit);
  const last = page.at(-1);
  const more = last && rows.length > input.limit;
  const offset = start.offset + page.length;
  return {
    items: await withChallenges(deps, page),
    total,
    limit: input.limit,
    offset: start.offset,
    next_cursor: more ? deps.cursors.encode([String(offset), ...last.position], scope) : null,
  };
}

/**
 * The rows of a page with what changes without a stage transition of theirs: the active challenges of their models, and versions of the
 * same run that were rolled back or stopped.
 */
async function withChallenges(
  deps: Pick<ListCatalogDeps, 'challenges' | 'clock' | 'registry'>,
  page: readonly CatalogEntry[],
): Promise<CatalogStrategy[]> {
  const [active, ended] = await Promise.all([
    activeChallenges(deps, page),
    deps.registry.endedVersionsOf(page.map(({ row }) => row.model_name)),
  ]);
  return page.map(({ row }) => ({
    ...row,
    active_challenge_id: active.get(row.model_name)?.challenge_id ?? null,
    same_run_as: sameRunIn(ended.get(row.model_name) ?? [], row),
  }));
}

/** The active challenges of the models of a page, by model. */
export async function activeChallenges(
  { challenges, clock }: Pick<ListCatalogDeps, 'challenges' | 'clock'>,
  page: readonly CatalogEntry[],
): Promise<ReadonlyMap<string, StoredChallenge>> {
  const found = await challenges.activeOf(page.map(({ row }) => row.model_name));
  const now = clock.now();
  const isActive = (challenge: StoredChallenge) =>
    applyDeadlines(begin(challenge), now).challenge.status === 'active';
  return new Map([...found].filter(([, challenge]) => isActive(challenge)));
}

/** Start of a page: after a position, or a number of rows from the start. */
interface Start {
  readonly after: CatalogPosition | null;
  /** Rows before the page. */
  readonly offset: number;
}

function startOf(cursors: Cursors, input: ListCatalogInput, scope: Scope): Start {
  if (input.cursor === undefined) return { after: null, offset: input.offset };
  if (input.offset > 0) {
    throw new CodedError('VAL005', {
      message: 'offset and cursor exclude each other: pass one of them',
      field: 'offset',
      context: { value: input.offset, max: 0 },
    });
  }
  const [offset, sortKey, model, version] = cursors.decode(input.cursor, scope, POSITION_LENGTH + 1);
  return { after: [sortKey!, model!, version!], offset: Number.parseInt(offset!, 10) || 0 };
}

/** Everything that determines the rows of a list and their order. */
function scopeOf(input: ListCatalogInput): Scope {
  const text = (value: string | number | undefined) => (value === undefined ? null : String(value));
  return {
    list: 'catalog',
    stage: text(input.stage),
    exchange: text(input.exchange),
    timeframe: text(input.timeframe),
    search: text(input.search),
    min_sharpe: text(input.min_sharpe),
    max_drawdown: text(input.max_drawdown),
    sort_field: input.sort_field,
    sort_order: input.sort_order,
    visible_to: input.caller.isAdmin ? null : input.caller.id,
  };
}

/** Filter of the rows that the caller can see; false: all rows. */
export async function visibleTo({ sharing }: RegistryStore, caller: Caller) {
  if (caller.isAdmin) return false;
  const shared = await sharing.sharedWith(principalsOf(caller));
  return ({ owner, model_name }: CatalogRow) => owner === caller.id || shared.has(model_name);
}

/** Filter of rows, the stage aside; undefined without a filter. */
function filterOf(
  input: ListCatalogInput,
  isVisible: ((row: CatalogRow) => boolean) | false,
): ((row: CatalogRow) => boolean) | undefined {
  const { exchange, timeframe, search, min_sharpe, max_drawdown } = input;
  const wanted = search?.toLowerCase();
  const rules = [
    isVisible,
    exchange !== undefined && ((row: CatalogRow) => row.exchange === exchange),
    timeframe !== undefined && ((row: CatalogRow) => row.timeframe === timeframe),
    wanted !== undefined && ((row: CatalogRow) => textOf(row).includes(wanted)),
    min_sharpe !== undefined &&
      ((row: CatalogRow) => (comparableValue(row.metrics, 'sharpe_ratio') ?? Number.NaN) >= min_sharpe),
    max_drawdown !== undefined &&
      ((row: CatalogRow) => Math.abs(row.metrics.max_drawdown_pct) <= Math.abs(max_drawdown)),
  ].filter((rule) => rule !== false);
  return rules.length === 0 ? undefined : (row) => rules.every((rule) => rule(row));
}

/** Searched fields, joined by line ends so that a match cannot span two of them. */
function textOf({ name, description, tags, pairs }: CatalogRow): string {
  return [name, description, ...tags, ...pairs].join('\n').toLowerCase();
}

interface Found {
  /** The rows of the page, and one more when more follow. */
  readonly rows: readonly CatalogEntry[];
  readonly total: number;
}

async function readPage(
  registry: RegistryStore,
  input: ListCatalogInput,
  { after, offset }: Start,
): Promise<Found> {
  const total = registry.catalogCount(stageOf(input));
  // Awaited last: an earlier failure must not become an unhandled rejection.
  total.catch(() => undefined);
  const rows: CatalogEntry[] = [];
  // Beyond the end: the index is not read for rows that are all skipped.
  if (!after && offset > 0 && offset >= (await total)) return { rows, total: await total };
  let skip = after ? 0 : offset;
  for await (const entry of registry.catalog(stageOf(input), sortOf(input), after)) {
    if (skip-- > 0) continue;
    rows.push(entry);
    if (rows.length > input.limit) break;
  }
  return { rows, total: await total };
}

async function readFiltered(
  registry: RegistryStore,
  input: ListCatalogInput,
  { after, offset }: Start,
  passes: (row: CatalogRow) => boolean,
): Promise<Found> {
  const rows: CatalogEntry[] = [];
  let total = 0;
  for await (const entry of registry.catalog(stageOf(input), sortOf(input), null)) {
    if (!passes(entry.row)) continue;
    total += 1;
    const before = after ? !comesBefore(after, entry.position, input.sort_order) : total <= offset;
    if (!before && rows.length <= input.limit) rows.push(entry);
  }
  return { rows, total };
}

function stageOf({ stage }: ListCatalogInput): CatalogFilter {
  return stage === undefined ? {} : { stage };
}

function sortOf({ sort_field, sort_order }: ListCatalogInput): CatalogSort {
  return { field: sort_field, order: sort_order };
}
