import type { AuditResource, StoredAuditCall, StoredAuditOutcome } from '#contract/platform/audit.ts';
import { CodedError } from '#contract/values/errors.ts';
import { AUDIT_WRITE_FAILURE } from '#contract/values/names.ts';
import { changesState, type Operation } from '#contract/values/operation.ts';
import { MAX_PRINCIPAL_LENGTH } from '#contract/values/sharing.ts';
import type { AuditTrail } from '#domain/audit/audit-trail.ts';
import type { Clock, Ids } from '#domain/ports.ts';
import { isoTime } from '#domain/shared/iso-time.ts';
import { plainText, summaryOf } from './audit-summary.ts';
import { isCanaryCall, type Principal } from './authenticate.ts';
import type { Log } from './log.ts';

export interface AuditDeps {
  readonly trail: AuditTrail;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Tokens of CloudFront, whose requests have the address of the browser in a header. */
  readonly originTokens?: readonly (string | undefined)[];
}

/** A received call with its caller. */
export interface AuditedCall {
  readonly operation: Operation;
  readonly principal: Principal;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** Parts of the request that were read. */
  readonly request: Readonly<Record<'query' | 'body', unknown>> | null;
  readonly correlationId: string;
  readonly sourceIp: string | undefined;
  readonly userAgent: string | undefined;
  readonly signal?: AbortSignal;
}

interface Deps {
  /** Absent in services whose operations change nothing. */
  readonly audit?: AuditDeps;
  readonly log: Log;
}

interface AuditedResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly changed?: NamedVersion;
}

/**
 * Runs `work` between two audit writes: its start and its outcome. A crash in between leaves the first. If the first write
 * fails, throws SVC005 and does not run `work`; if the second fails, the result is returned anyway. Operations that change
 * nothing, and calls of the canary, are not audited.
 */
export async function audited<T extends AuditedResponse>(
  { audit: used, log }: Deps,
  call: AuditedCall,
  work: () => Promise<T>,
): Promise<T> {
  if (!isAudited(call)) return work();
  const audit = used!;
  const record = recordOf(audit, call, null);
  try {
    await audit.trail.begin(record);
  } catch (cause) {
    const message = 'The audit trail cannot be written: nothing was changed';
    throw new CodedError('SVC005', { message, cause });
  }
  const end = async (outcome: Ending) => {
    const ended = { ...outcome, ended_at: isoTime(audit.clock.now()) };
    await audit.trail
      .end(record, ended)
      .catch((error: unknown) =>
        log.error(`outcome ${AUDIT_WRITE_FAILURE}`, { ...outcome, audit_id: record.id, error }),
      );
  };
  try {
    call.signal?.throwIfAborted();
    const response = await work();
    await end(success(response));
    return response;
  } catch (error) {
    await end(failure(error));
    throw error;
  }
}

/** Records a call that was rejected before any change. If the write fails, the rejection is returned anyway. */
export async function auditRejection(
  { audit: used, log }: Deps,
  call: AuditedCall,
  error: unknown,
): Promise<void> {
  if (!isAudited(call)) return;
  const audit = used!;
  const outcome = { ...failure(error), ended_at: isoTime(audit.clock.now()) };
  const record = recordOf(audit, call, outcome);
  await audit.trail.begin(record).catch((fault: unknown) => {
    const { principal, operation } = record;
    log.error(`refusal ${AUDIT_WRITE_FAILURE}`, { ...outcome, principal, operation, error: fault });
  });
}

/** The canary's backtests change nothing for any user: the trail would hold hundreds of them per day. */
function isAudited({ operation, principal }: AuditedCall): boolean {
  return changesState(operation) && !isCanaryCall(principal, operation);
}

type NamedVersion = Pick<StoredAuditOutcome, 'model_name' | 'version'>;
type Ending = Omit<StoredAuditOutcome, 'ended_at'>;

function success({ status, body, headers = {}, changed = versionOf(body) }: AuditedResponse): Ending {
  return { outcome: 'succeeded', status, code: null, created: createdAt(headers.Location), ...changed };
}

/**
 * Model and version of a response; of a challenge the challenger, of a rollback the version in Production. MLflow's responses have the
 * version inside. A request may name the version by an alias, which moves.
 */
function versionOf(body: unknown): NamedVersion {
  const { model_version: inner, ...response } = (body ?? {}) as Readonly<Record<string, unknown>>;
  const { model_name, version, challenger_version, new_production } = response;
  if (typeof model_name === 'string') {
    const named = version ?? challenger_version ?? new_production;
    return { model_name, ...(typeof named === 'string' && { version: named }) };
  }
  const { name, version: own } = (inner ?? {}) as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && typeof own === 'string' ? { model_name: name, version: own } : {};
}

function failure(error: unknown): Ending {
  const { status, code } = error instanceof CodedError ? error : new CodedError('SVC001');
  return { outcome: status < 500 ? 'refused' : 'failed', status, code, created: null };
}

/** The resource of a `Location` such as `backtests/bt-1`. */
function createdAt(location: string | undefined): AuditResource | null {
  const [kind, id] = location?.split('/').slice(-2) ?? [];
  return kind && id ? { kind, id: plainText(id, 200) } : null;
}

function recordOf(
  { clock, ids }: AuditDeps,
  call: AuditedCall,
  outcome: StoredAuditOutcome | null,
): StoredAuditCall {
  const { operation, principal } = call;
  const optional = (text: string | undefined, max: number) =>
    text === undefined ? null : plainText(text, max);
  return {
    schema_version: 1,
    id: ids.ulid(),
    at: isoTime(clock.now()),
    principal: plainText(principal.id, MAX_PRINCIPAL_LENGTH),
    roles: [...principal.roles],
    service: operation.service,
    operation: operation.id,
    resource: namedIn(call) ?? resourceOf(operation, call.params),
    method: operation.method,
    path: plainText(call.path, 300),
    correlation_id: call.correlationId,
    request: summaryOf(call.request, operation),
    source_ip: optional(call.sourceIp, 64),
    user_agent: optional(call.userAgent, 200),
    outcome,
  };
}

/** The resource that the body names; undefined for an operation whose path has it. */
function namedIn({ operation: { auditedAs }, request }: AuditedCall): AuditResource | undefined {
  if (!auditedAs) return undefined;
  const { [auditedAs.field]: named } = (request?.body ?? {}) as Readonly<Record<string, unknown>>;
  const text = typeof named === 'string' ? plainText(named, 200) : null;
  if (auditedAs.kind !== undefined) return { kind: auditedAs.kind, id: text };
  const [kind, ...id] = text?.split('/') ?? [];
  return { kind: kind ?? auditedAs.field, id: id.length > 0 ? id.join('/') : null };
}

/** Kind and id of the last resource in the path, such as the backtest in `/api/v1/backtests/{job_id}/cancel`. */
function resourceOf({ path }: Operation, params: Readonly<Record<string, string>>): AuditResource {
  const segments = path.split('/');
  const at = segments.findLastIndex((segment) => segment.startsWith('{'));
  if (at < 0) return { kind: segments.at(-1)!, id: null };
  return { kind: segments[at - 1]!, id: plainText(params[segments[at]!.slice(1, -1)] ?? '', 200) };
}
