import type { StoredAuditCall } from '#contract/platform/audit.ts';
import type { ChallengeEvent, StoredChallenge } from '#contract/registry/stored-challenge.ts';
import type { RegistryEvent } from '#contract/registry/stored-registry.ts';
import { CHALLENGE_ID_PREFIX } from '#contract/values/challenge-limits.ts';
import { EARLIER_PLATFORM, PLATFORM } from '#contract/values/names.ts';
import type { ChallengeStore } from '../challenges/challenge-store.ts';
import type { Page } from '../ports.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { auditKey } from './audit-trail.ts';

/** What the trail of a model has besides the calls that name it. */
export interface ModelTrail {
  /** Challenges of the model, by ID: calls name the challenge only. */
  readonly challenges: ReadonlyMap<string, StoredChallenge>;
  /** Changes that no call made: the platform itself promoted, held or ended. Newest first. */
  readonly changes: readonly StoredAuditCall[];
}

export interface ModelTrailDeps {
  readonly registry: Pick<RegistryStore, 'history'>;
  readonly challenges: Pick<ChallengeStore, 'list' | 'read' | 'events'>;
}

/** Unix milliseconds, `to` exclusive. */
interface Range {
  readonly from: number;
  readonly to: number;
}

const PAGE = 100;
const NONE: ModelTrail = { challenges: new Map(), changes: [] };

/** The part of the trail of a model or challenge that its histories have; empty for another resource. Throws SVC005. */
export async function modelTrail(
  deps: ModelTrailDeps,
  resource: string | undefined,
  range: Range,
): Promise<ModelTrail> {
  if (resource === undefined) return NONE;
  const named = await deps.challenges.read(resource);
  const challenges = named
    ? [named]
    : await all((cursor) => deps.challenges.list(resource, { limit: PAGE, cursor }));
  const [model, ...others] = await Promise.all([
    named ? [] : within(range, isOfPlatform, (cursor) => deps.registry.history(resource, PAGE, cursor)),
    ...challenges
      .filter((each) => overlaps(each, range))
      .map(async (challenge) => {
        const events = await within(range, isOwn, (cursor) =>
          deps.challenges.events(challenge.challenge_id, PAGE, cursor),
        );
        return events.map((event) => ofChallenge(challenge, event));
      }),
  ]);
  const changes = [...model.map(ofModel), ...others.flat()];
  return {
    challenges: new Map(challenges.map((each) => [each.challenge_id, each])),
    changes: changes.sort((a, b) => (auditKey(a) < auditKey(b) ? 1 : -1)),
  };
}

/** By its last change: a promotion that was not made lapses days after the end. */
function overlaps({ created_at, ended_at, updated_at }: StoredChallenge, { from, to }: Range): boolean {
  return Date.parse(created_at) < to && (ended_at === null || Date.parse(updated_at) >= from);
}

function isOwn({ actor }: ChallengeEvent): boolean {
  return actor === PLATFORM;
}

/** A promotion by a challenge itself has the challenge's ID in place of a call's. No caller can send one; a promotion may name any. */
function isOfPlatform({ actor, challenge_id, correlation_id }: RegistryEvent): boolean {
  return (
    actor === PLATFORM ||
    actor === EARLIER_PLATFORM ||
    (correlation_id === challenge_id && correlation_id.startsWith(CHALLENGE_ID_PREFIX))
  );
}

async function all<T>(read: (cursor: string | null) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor);
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== null);
  return items;
}

/** Events of a history in a range that the platform made, newest first. Those of calls, which may be many, are not kept. */
async function within<T extends { readonly at: string }>(
  { from, to }: Range,
  isKept: (event: T) => boolean,
  read: (cursor: string | null) => Promise<Page<T>>,
): Promise<T[]> {
  const events: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(cursor);
    const isWanted = ({ at }: T) => Date.parse(at) >= from && Date.parse(at) < to;
    events.push(...page.items.filter((event) => isWanted(event) && isKept(event)));
    const last = page.items.at(-1);
    cursor = last && Date.parse(last.at) >= from ? page.next : null;
  } while (cursor !== null);
  return events;
}

function ofModel(event: RegistryEvent): StoredAuditCall {
  const { model_name, version, event_id, at, actor, action, correlation_id } = event;
  const { from, to, previous_production, reason, notes, challenge_id } = event;
  const resource = { kind: 'models', id: model_name };
  const body = { from, to, previous_production, reason, notes, challenge_id };
  return entry({ id: event_id, at, actor, action, resource, correlation_id, body, model_name, version });
}

function ofChallenge(challenge: StoredChallenge, event: ChallengeEvent): StoredAuditCall {
  const { model_name, challenger_version: version, challenge_id } = challenge;
  const { sequence, at, actor, action, status, outcome, canary_stage, reason } = event;
  return entry({
    // Its place in the order of one moment, in the form of the IDs of calls.
    id: `${challenge_id
      .replace(/[^0-9A-HJKMNP-TV-Z]/g, '')
      .slice(-16)
      .padStart(16, '0')}${String(sequence).padStart(10, '0')}`,
    at,
    actor,
    action,
    resource: { kind: 'challenges', id: challenge_id },
    correlation_id: event.correlation_id ?? challenge_id,
    body: { status, outcome, canary_stage, reason },
    model_name,
    version,
  });
}

function entry(change: {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly resource: StoredAuditCall['resource'];
  readonly correlation_id: string;
  readonly body: object;
  readonly model_name: string;
  readonly version: string;
}): StoredAuditCall {
  const { id, at, actor, action, resource, correlation_id, body, model_name, version } = change;
  const created = null;
  return {
    schema_version: 1,
    id,
    at,
    principal: actor,
    roles: [],
    service: PLATFORM,
    operation: action,
    resource,
    method: '',
    path: '',
    correlation_id,
    request: JSON.stringify({ body }),
    source_ip: null,
    user_agent: null,
    outcome: { outcome: 'succeeded', status: 200, code: null, created, ended_at: at, model_name, version },
  };
}
