import type { AuditEntry, StoredAuditCall } from '#contract/platform/audit.ts';
import { ROUTINE_OPERATIONS } from '#contract/values/audit-routine.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { AUDIT_DEFAULTS, AUDIT_LIMITS } from '#contract/values/request-limits.ts';
import type { Clock, Page } from '../ports.ts';
import type { Cursors } from '../shared/cursors.ts';
import { ACCEPTED_TIMES, isoTime, parseTime } from '../shared/iso-time.ts';
import { type AuditTrail, auditKey, isAuditKey } from './audit-trail.ts';
import { type ModelTrail, type ModelTrailDeps, modelTrail } from './model-changes.ts';

interface Filters {
  readonly principal?: string | undefined;
  readonly operation?: string | undefined;
  readonly resource?: string | undefined;
  readonly outcome?: AuditEntry['outcome'] | undefined;
  /** False: without the operations that programs call all the time. Default: true. */
  readonly routine?: boolean | undefined;
}

export interface ListAuditInput extends Filters {
  readonly day?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface ListAuditDeps extends ModelTrailDeps {
  readonly audit: AuditTrail;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

/** Unix milliseconds, `to` exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * One page of the audit trail, newest first, over all days of the range.
 * Throws VAL001 for invalid times or times in the wrong order, VAL005 for a range that is too long or given twice,
 * VAL006 for a cursor of another list, SVC005.
 */
export async function listAudit(
  { audit, cursors, clock, ...deps }: ListAuditDeps,
  input: ListAuditInput,
): Promise<Page<AuditEntry>> {
  const scope = scopeOf(input);
  const { range, before } = input.cursor
    ? positionOf(cursors.decode(input.cursor, scope, 3))
    : { range: rangeOf(input, clock.now()), before: null };
  const nextAfter = (call: StoredAuditCall) =>
    cursors.encode([auditKey(call), isoTime(range.from), isoTime(range.to)], scope);
  const items: AuditEntry[] = [];
  let last: StoredAuditCall | undefined;
  let read = 0;
  const trail = await modelTrail(deps, input.resource, range);
  for await (const call of withChanges(newestFirst(audit, range, before), trail, before)) {
    const entry = entryOf(call, trail);
    const passes = matches(entry, call, input);
    if (last && (read === AUDIT_LIMITS.read || (passes && items.length === input.limit))) {
      return { items, next: nextAfter(last) };
    }
    read++;
    last = call;
    if (passes) items.push(entry);
  }
  return { items, next: null };
}

async function* newestFirst(
  audit: AuditTrail,
  { from, to }: Range,
  before: string | null,
): AsyncIterable<StoredAuditCall> {
  // The end is exclusive: midnight belongs to the day before.
  const lastDay = startOfDay(before === null ? to - 1 : Date.parse(before.slice(0, before.indexOf('#'))));
  for (let day = lastDay; day >= startOfDay(from); day -= DAY_MS) {
    yield* audit.calls({
      day: isoTime(day).slice(0, 10),
      from: isoTime(Math.max(from, day)),
      before: day === lastDay ? (before ?? isoTime(to)) : isoTime(day + DAY_MS),
    });
  }
}

/** Calls, with the changes that no call made, newest first. */
async function* withChanges(
  calls: AsyncIterable<StoredAuditCall>,
  { changes }: ModelTrail,
  before: string | null,
): AsyncIterable<StoredAuditCall> {
  const left = changes.filter((change) => before === null || auditKey(change) < before);
  let next = 0;
  for await (const call of calls) {
    while (next < left.length && auditKey(left[next]!) > auditKey(call)) yield left[next++]!;
    yield call;
  }
  yield* left.slice(next);
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

function rangeOf({ day, from, to }: ListAuditInput, now: number): Range {
  if (day !== undefined) {
    if (from !== undefined || to !== undefined) {
      throw new CodedError('VAL005', {
        message: 'day excludes from and to: pass day, or from and to',
        field: 'day',
        context: { value: day },
      });
    }
    const start = timeOf(day, 'day');
    return { from: startOfDay(start), to: startOfDay(start) + DAY_MS };
  }
  // Includes calls of the current millisecond.
  const end = to === undefined ? now + 1 : timeOf(to, 'to');
  const start = from === undefined ? end - AUDIT_DEFAULTS.days * DAY_MS : timeOf(from, 'from');
  if (start >= end) {
    const context = { from: isoTime(start), to: isoTime(end) };
    throw new CodedError('VAL001', { message: 'from must be before to', field: 'from', context });
  }
  if (end - start > AUDIT_LIMITS.days * DAY_MS) {
    throw new CodedError('VAL005', {
      message: `from and to must be at most ${AUDIT_LIMITS.days} days apart; without to the range ends now`,
      field: 'from',
      context: { from: isoTime(start), to: isoTime(end), max_days: AUDIT_LIMITS.days },
    });
  }
  return { from: start, to: end };
}

function timeOf(text: string, field: 'day' | 'from' | 'to'): number {
  // A day has no time: 2026-11-21 or 20261121.
  const isWrong = field === 'day' && text.length !== 10 && text.length !== 8;
  const time = isWrong ? undefined : parseTime(text);
  if (time !== undefined) return time;
  const message = `${field} must be ${field === 'day' ? 'a day such as 2026-11-21' : ACCEPTED_TIMES}`;
  throw new CodedError('VAL001', { message, field, context: { [field]: text } });
}

/** Start of a page. The cursor has the range of the first page: without `to`, a new range would end later. */
function positionOf([key, from, to]: readonly string[]): { range: Range; before: string } {
  const range = { from: parseTime(from!) ?? Number.NaN, to: parseTime(to!) ?? Number.NaN };
  if (isAuditKey(key!) && range.to - range.from <= AUDIT_LIMITS.days * DAY_MS && key! < to! && key! > from!) {
    return { range, before: key! };
  }
  throw new CodedError('VAL006', {
    message: 'The cursor is not valid. Pass the cursor of the previous page unchanged.',
    field: 'cursor',
  });
}

function scopeOf({ limit: _, cursor: __, ...filters }: ListAuditInput): Record<string, string | null> {
  const { day, from, to, principal, operation, resource, outcome, routine } = filters;
  // Cursors of before there was this filter stay valid.
  const hidden = routine === false ? { routine: 'false' } : {};
  const all = { day, from, to, principal, operation, resource, outcome, ...hidden };
  const scope = Object.entries(all).map(([name, value]) => [name, value ?? null] as const);
  return { list: 'audit', ...Object.fromEntries(scope) };
}

function matches(entry: AuditEntry, { resource }: StoredAuditCall, filters: Filters): boolean {
  const { principal = entry.principal, operation = entry.operation, outcome = entry.outcome } = filters;
  return (
    entry.principal === principal &&
    entry.operation === operation &&
    entry.outcome === outcome &&
    (filters.routine !== false ||
      filters.operation !== undefined ||
      !ROUTINE_OPERATIONS.includes(entry.operation)) &&
    (filters.resource === undefined ||
      [entry.resource.id, resource.id, entry.model_name].includes(filters.resource))
  );
}

function entryOf(
  { schema_version: _, outcome, request: summary, ...call }: StoredAuditCall,
  { challenges }: ModelTrail,
): AuditEntry {
  const request = summary === null ? null : (JSON.parse(summary) as Record<string, unknown>);
  const challenge = call.resource.kind === 'challenges' ? challenges.get(call.resource.id ?? '') : undefined;
  const named = namedModel(call);
  const model = outcome?.model_name ?? named.model ?? challenge?.model_name ?? null;
  const version =
    outcome?.version ?? named.version ?? versionIn(request?.body) ?? challenge?.challenger_version;
  return {
    ...call,
    resource: outcome?.created ?? call.resource,
    model_name: model,
    version: model === null ? null : (version ?? null),
    outcome: outcome?.outcome ?? 'unknown',
    status: outcome?.status ?? null,
    code: outcome?.code ?? null,
    ended_at: outcome?.ended_at ?? null,
    request,
  };
}

/** Paths with the name of a model, some with a version. */
const MODEL_PATH = /^\/api\/v1\/(?:models|strategies)\/([^/]+)(?:\/versions\/([^/]+))?/;

/** Model that the path or the body names as the resource, and the version in the path. */
function namedModel({ path, resource }: Pick<StoredAuditCall, 'path' | 'resource'>) {
  const [, model, version] = MODEL_PATH.exec(path) ?? [];
  if (model !== undefined) return { model: decoded(model), version: version && decoded(version) };
  return resource.kind === 'models' ? { model: resource.id ?? undefined } : {};
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Version that a body asks for; of a new challenge the challenger. */
function versionIn(body: unknown): string | undefined {
  const { version, model_version, target_version, challenger_version } = (body ?? {}) as Record<
    string,
    unknown
  >;
  const named = version ?? model_version ?? target_version ?? challenger_version;
  return typeof named === 'string' || typeof named === 'number' ? String(named) : undefined;
}
