import type { EventData, PlatformEvent } from '#contract/platform/events.ts';
import type { ApprovalStatus } from '#contract/values/approval-limits.ts';
import type { EventType } from '#contract/values/event-types.ts';
import { PLATFORM } from '#contract/values/names.ts';
import { APPROVAL_PARTITION } from '#contract/values/tables.ts';
import { isoTime } from '../shared/iso-time.ts';

type Item = Readonly<Record<string, unknown>>;

/** Change of one item of a table, from the table's stream. */
export interface TableChange {
  /** Keys of the item. Their names identify the table. */
  readonly keys: Item;
  /** Absent: the item was added. */
  readonly before?: Item | undefined;
  /** Absent: the item was deleted. */
  readonly after?: Item | undefined;
  /** Time of the write, Unix ms; streams have it in seconds. */
  readonly at: number;
}

/** A change whose own time is older was written by a restore or an upgrade, ms. */
const MAX_AGE_MS = 60 * 60_000;

/**
 * Events of changes. A change that cannot be read is passed to `onError`: it must not stop those that follow.
 *
 * @param source CloudEvents' `source` of this platform
 */
export function eventsOf(
  source: string,
  changes: readonly TableChange[],
  onError: (error: unknown, change: TableChange) => void,
): PlatformEvent[] {
  return changes.flatMap((change) => {
    try {
      const event = eventOf(change);
      return event ? [{ ...event, source } as PlatformEvent] : [];
    } catch (error) {
      onError(error, change);
      return [];
    }
  });
}

type DerivedEvent = Omit<PlatformEvent, 'source'>;

/** Event of a change; undefined for most changes. */
function eventOf(change: TableChange): DerivedEvent | undefined {
  const { keys, after } = change;
  if (!after) return undefined;
  const event =
    'job_id' in keys
      ? jobEvent(change, after)
      : 'pk' in keys
        ? registryEvent(change, after)
        : dataEvent(change, after);
  // The end of a challenge has the time of its deadline, which may have passed while the platform was stopped.
  const written = String(after.written_at ?? event?.time);
  return event && change.at - Date.parse(written) <= MAX_AGE_MS ? event : undefined;
}

/** What a change is about, when and by whom it was made. Without an actor the platform itself made it. */
interface Change {
  readonly subject: string;
  readonly sequence: unknown;
  readonly time: unknown;
  readonly actor?: unknown;
}

function make<T extends EventType>(type: T, change: Change, data: EventData<T>): DerivedEvent {
  const { subject, sequence, time, actor = PLATFORM } = change;
  return {
    specversion: '1.0',
    id: `${subject}#${sequence}#${type}`,
    type,
    subject,
    time: String(time),
    actor: String(actor),
    datacontenttype: 'application/json',
    sequence: Number(sequence),
    data,
  };
}

/** Events of jobs. A job is first stored as pending, so a new item is no event. */
function jobEvent({ keys, before }: TableChange, after: Item): DerivedEvent | undefined {
  const { kind } = after;
  if (keys.item !== 'JOB' || !before || (kind !== 'backtest' && kind !== 'hyperopt')) return undefined;
  if (before.status === after.status) return collectionEvent(before, after);
  const subject = kind === 'backtest' ? `backtests/${after.job_id}` : `hyperopt/${after.job_id}`;
  const event = (state: 'started' | 'cancelled', time: unknown, actor?: unknown) =>
    make(`${kind}.${state}`, { subject, sequence: after.revision, time, actor }, jobData(after));
  switch (after.status) {
    case 'running':
      // Another attempt is a change from running to running.
      return before.status === 'pending' ? event('started', after.started_at) : undefined;
    case 'cancelled':
      return event('cancelled', after.finished_at, after.cancelled_by);
    case 'failed': {
      const error = { code: String(after.error_code), message: String(after.error) };
      const data = { ...jobData(after), error };
      return make(`${kind}.failed`, { subject, sequence: after.revision, time: after.finished_at }, data);
    }
    case 'completed':
      return completedEvent(kind, subject, after);
    default:
      return undefined;
  }
}

function completedEvent(kind: 'backtest' | 'hyperopt', subject: string, after: Item): DerivedEvent {
  const change = { subject, sequence: after.revision, time: after.finished_at };
  if (kind === 'backtest') {
    const data = { ...jobData(after), result: after.result } as EventData<'backtest.completed'>;
    return make('backtest.completed', change, data);
  }
  const { best_trial, best_value } = after.outcome as { best_trial: number; best_value: number };
  return make('hyperopt.completed', change, {
    ...jobData(after),
    best_trial,
    best_value,
  });
}

function configOf({ base, config }: Item): Item {
  // The configuration of a hyperopt job is that of its search.
  return (base ?? config) as Item;
}

function jobData(job: Item): EventData<'backtest.started'> {
  const { exchange, timeframe, pairs, strategy } = configOf(job);
  const { job_id, experiment_name = null } = job;
  return { job_id, strategy, experiment_name, exchange, timeframe, pairs } as EventData<'backtest.started'>;
}

/** Event of the collection that a job waited for: its outcome was added to the job. */
function collectionEvent(before: Item, after: Item): DerivedEvent | undefined {
  const outcome = after.collection as Item | null;
  if (!outcome || (before.collection as Item | null)?.at === outcome.at) return undefined;
  const { symbols, start, end, exchange, timeframe } = after.execution_input as Item;
  const data = {
    exchange,
    timeframe,
    symbols,
    start,
    end,
    collection_id: null,
    job_id: after.job_id,
    message: outcome.message,
  } as EventData<'data.collected'>;
  const type = outcome.status === 'completed' ? 'data.collected' : 'data.stale';
  const subject = `${after.kind === 'backtest' ? 'backtests' : 'hyperopt'}/${after.job_id}`;
  return make(type, { subject, sequence: after.revision, time: outcome.at }, data);
}

/** Events of the registry: each is an item of a history, or the change of a request for approval. */
function registryEvent(change: TableChange, after: Item): DerivedEvent | undefined {
  return change.keys.pk === APPROVAL_PARTITION ? approvalEvent(change, after) : historyEvent(change, after);
}

/** A request for approval changes once: at its end. */
function approvalEvent({ before }: TableChange, after: Item): DerivedEvent | undefined {
  if (before?.status === after.status) return undefined;
  const status = after.status as ApprovalStatus;
  const time = { requested: after.requested_at, expired: after.due_at }[status as 'requested' | 'expired'];
  const actor = status === 'requested' ? after.requested_by : (after.decided_by ?? PLATFORM);
  const { approval_id, model_name, action, version, reason, requested_by, due_at } = after;
  const { decided_by, decision_reason, expected_production } = after;
  const data = {
    approval_id,
    model_name,
    action,
    version,
    status,
    reason,
    requested_by,
    due_at,
    decided_by,
    decision_reason,
    expected_production,
  } as EventData<'approval.requested'>;
  const subject = `approvals/${approval_id}`;
  const change = { subject, sequence: before ? 2 : 1, time: time ?? after.decided_at, actor };
  return make(`approval.${status}`, change, data);
}

/** Events of models and challenges: each is an item of their history. */
function historyEvent({ keys, before }: TableChange, after: Item): DerivedEvent | undefined {
  if (before || !String(keys.sk).startsWith('EVENT#')) return undefined;
  const { action, sequence, at: time, actor } = after;
  if (String(keys.pk).startsWith('CHALLENGE#')) {
    const type = challengeType(String(action), after.outcome);
    if (!type) return undefined;
    const { challenge_id, status, outcome, canary_stage, reason } = after;
    const data = { challenge_id, status, outcome, canary_stage, reason } as EventData<'challenge.won'>;
    return make(type, { subject: `challenges/${challenge_id}`, sequence, time, actor }, data);
  }
  const type = versionType(String(action), after);
  if (!type) return undefined;
  const { model_name, version, from, to, production, previous_production } = after;
  const { reason, notes, challenge_id } = after;
  const data = {
    model_name,
    version,
    from,
    to,
    production,
    previous_production,
    reason,
    notes,
    challenge_id,
  } as EventData<'version.promoted'>;
  return make(type, { subject: `models/${model_name}`, sequence, time, actor }, data);
}

type Kind<K extends string> = Extract<EventType, `${K}.${string}`>;

function versionType(action: string, { notes, to }: Item): Kind<'version'> | undefined {
  switch (action) {
    case 'register':
      return 'version.registered';
    case 'stage':
      return 'version.staged';
    case 'promote':
      return 'version.promoted';
    case 'rollback':
      return 'version.rolled_back';
    case 'stop':
      return 'version.stopped';
    case 'validate':
      if ((notes as readonly string[]).includes('validation failed')) return 'version.refused';
      // The result may come after the promotion.
      return to === 'Staging' ? 'version.ready_to_promote' : undefined;
    default:
      // Aliases and tags: their notes have words of users.
      return undefined;
  }
}

function challengeType(action: string, outcome: unknown): Kind<'challenge'> | undefined {
  switch (action) {
    case 'advance':
      return 'challenge.advanced';
    case 'hold':
      return 'challenge.held';
    case 'complete':
      return outcome === 'challenger_wins' ? 'challenge.won' : 'challenge.lost';
    case 'roll_back':
      return 'challenge.lost';
    case 'expire':
      return 'challenge.expired';
    case 'promotion_rejected':
      return 'challenge.refused';
    default:
      // The promotion of a winner is an event of its model.
      return undefined;
  }
}

/** Events of market data: ends of collections, and series with more gaps. */
function dataEvent(change: TableChange, after: Item): DerivedEvent | undefined {
  const partition = String(change.keys.exchange);
  // The queue of collections is in the same partition.
  if (partition === '#collections') return collectedEvent(change.before, after);
  if (partition.endsWith('#months')) return gapEvent(change, after);
  return undefined;
}

function collectedEvent(before: Item | undefined, after: Item): DerivedEvent | undefined {
  const stored = after.stored as Item;
  if (stored.status !== 'completed' || (before?.stored as Item | undefined)?.status === 'completed')
    return undefined;
  const { collection_id, exchange, timeframe, symbols, start, end } = stored;
  const data = {
    exchange,
    timeframe,
    symbols,
    start,
    end,
    collection_id,
    job_id: null,
    message: null,
  } as EventData<'data.collected'>;
  const subject = `collections/${collection_id}`;
  return make('data.collected', { subject, sequence: after.revision, time: stored.updated_at }, data);
}

function gapEvent({ keys, before, at }: TableChange, after: Item): DerivedEvent | undefined {
  const gaps = gapsOf(after);
  const new_gaps = gaps - (before ? gapsOf(before) : 0);
  if (new_gaps <= 0) return undefined;
  const exchange = String(keys.exchange).slice(0, -'#months'.length);
  const [symbol, timeframe] = String(keys.series).split('#') as [string, string];
  const subject = `series/${exchange}/${symbol}/${timeframe}`;
  return make(
    'data.gap',
    { subject, sequence: after.revision, time: isoTime(at) },
    {
      exchange,
      timeframe,
      symbol,
      gaps,
      new_gaps,
    },
  );
}

function gapsOf({ months }: Item): number {
  const stored = JSON.parse(String(months)) as readonly { readonly gap_count: number }[];
  return stored.reduce((sum, { gap_count }) => sum + gap_count, 0);
}
