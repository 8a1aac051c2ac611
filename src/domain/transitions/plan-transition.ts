import type {
  RegistryAction,
  StoredModel,
  StoredVersion,
  Waiver,
} from '#contract/registry/stored-registry.ts';
import { CodedError } from '#contract/values/errors.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { TransitionCall, TransitionDeps, TransitionKind, TransitionStore } from './apply-transition.ts';
import type { ApprovalChange } from './approval-store.ts';
import type { ArchivedProduction, ChallengeChange, StageTransition } from './registry-store.ts';

type OpenApproval = StoredModel['open_approvals'][number];

/** Each write conflict is another call that succeeded: up to 21 concurrent calls on one model all succeed. */
const ATTEMPTS = 21;

/** Stage transitions of a model. They throw RES005 after a write conflict in each of 21 attempts, 10 s in all. */
export function stageTransitions<W>(store: TransitionStore<W>): TransitionKind<W> {
  const message = `Write conflict: the model changed during ${ATTEMPTS} attempts. Read it again and retry the request.`;
  const writeConflict: TransitionKind<W>['writeConflict'] = ({ model }) =>
    new CodedError('RES005', {
      message,
      field: model ? 'version' : '',
      context: { current_production: model?.production_version ?? null },
    });
  return { store, attempts: ATTEMPTS, writeConflict };
}

/** A change of one version, and its effect on Production. */
export interface PlannedTransition {
  readonly action: RegistryAction;
  readonly call: TransitionCall;
  /** Time of the transition; see {@link nextTimestamp}. */
  readonly at: string;
  /** The version as it was read; null for a new one, the same as `version` if only the model changes. */
  readonly before: StoredVersion | null;
  readonly version: StoredVersion;
  /** Default: Production is not changed. */
  readonly archived?: ArchivedProduction | null;
  readonly reason?: string | null;
  readonly notes?: readonly string[];
  readonly waiver?: Waiver | null;
  readonly challengeId?: string | null;
  /** Aliases of the model after the change. Default: unchanged. */
  readonly aliases?: StoredModel['aliases'];
  /** Challenges that it ends. Default none. */
  readonly challenges?: readonly ChallengeChange[];
}

/** The time of a model's next event: now, but never before the last one, even if the clocks of two hosts differ. */
export function nextTimestamp(deps: Pick<TransitionDeps, 'clock'>, model: StoredModel | null): string {
  const now = isoTime(deps.clock.now());
  return model && model.updated_at > now ? model.updated_at : now;
}

/** The stage transition of a change, with its event. */
export function planTransition(
  deps: Pick<TransitionDeps, 'ids'>,
  model: StoredModel | null,
  change: PlannedTransition,
): StageTransition {
  const { action, call, at, before, version, archived = null, challenges = [] } = change;
  const previous = model?.production_version ?? null;
  const production = productionAfter(previous, version);
  const eventId = deps.ids.ulid();
  const active = challenges.some(({ before: old }) => old?.status === 'active') ? null : undefined;
  const ends = action === 'stop' || archived?.rolledBack != null;
  const next = { version, production, active, ends, eventId, at };
  const named = model ?? newModel(version, call, at);
  const open = named.open_approvals.filter(({ due_at }) => due_at > at);
  const isDone = (approval: OpenApproval) => hasHappened(approval, { version, production });
  const open_approvals = open.filter((approval) => !isDone(approval));
  const after = nextModel({ ...named, aliases: change.aliases ?? named.aliases, open_approvals }, next);
  return {
    model: { before: model, after },
    versions: version === before ? [] : [{ before, after: version }],
    archived,
    challenges,
    approvals: open.filter(isDone).map(({ approval_id }) => happenedOtherwise(approval_id, change)),
    event: {
      schema_version: 1,
      model_name: after.model_name,
      event_id: eventId,
      sequence: after.events,
      at,
      actor: call.actor.id,
      action,
      version: version.version,
      from: before?.stage ?? null,
      to: version.stage,
      previous_production: previous,
      production,
      archived_versions: archived ? [archived.version] : [],
      reason: change.reason ?? null,
      notes: [...(change.notes ?? [])],
      waiver: change.waiver ? { checks: change.waiver.checks, reason: change.waiver.reason } : null,
      challenge_id: change.challengeId ?? null,
      correlation_id: call.correlationId,
    },
  };
}

/** True for a request whose transition has happened: the version is in the stage that it asks for. */
function hasHappened(
  { action, version: requested }: OpenApproval,
  { version, production }: { readonly version: StoredVersion; readonly production: string | null },
): boolean {
  switch (action) {
    case 'stage':
      return version.version === requested && version.stage !== 'None';
    case 'promote':
    case 'rollback':
      return production !== null && production === requested;
    case 'stop':
      return production === null;
  }
}

/** Withdrawal by the platform. An approval replaces it for the request that it approves. */
function happenedOtherwise(approval_id: string, { action, at }: PlannedTransition): ApprovalChange {
  const set = {
    status: 'withdrawn',
    decided_by: PLATFORM,
    decided_at: at,
    decision_reason: `The transition happened otherwise: ${action}`,
    written_at: at,
  } as const;
  return { approval_id, set };
}

/** A version that enters or leaves Production changes it; any other transition does not. */
function productionAfter(previous: string | null, { version, stage }: StoredVersion): string | null {
  if (stage === 'Production') return version;
  return version === previous ? null : previous;
}

function newModel({ model_name }: StoredVersion, { actor }: TransitionCall, at: string): StoredModel {
  return {
    schema_version: 2,
    model_name,
    owner: actor.id,
    shared_with: [],
    production_version: null,
    stopped_version: null,
    has_ended_versions: false,
    aliases: [],
    latest_version: 0,
    active_challenge_id: null,
    open_approvals: [],
    revision: 0,
    events: 0,
    last_event_id: '',
    created_at: at,
    updated_at: at,
  };
}

function nextModel(
  model: StoredModel,
  next: {
    readonly version: StoredVersion;
    readonly production: string | null;
    /** null: the active challenge ends. */
    readonly active: null | undefined;
    /** True: a version is rolled back or stopped. */
    readonly ends: boolean;
    readonly eventId: string;
    readonly at: string;
  },
): StoredModel {
  const active = next.active === null ? null : model.active_challenge_id;
  const turns = next.production !== model.production_version || active !== model.active_challenge_id;
  return {
    ...model,
    production_version: next.production,
    has_ended_versions: next.ends || model.has_ended_versions,
    stopped_version: next.production === null ? (model.production_version ?? model.stopped_version) : null,
    active_challenge_id: active,
    latest_version: Math.max(model.latest_version, Number(next.version.version)),
    revision: model.revision + (turns ? 1 : 0),
    events: model.events + 1,
    last_event_id: next.eventId,
    updated_at: next.at,
  };
}
