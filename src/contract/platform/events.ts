import * as z from 'zod';
import { BacktestResult, CollectionOutcome } from '../backtests/backtest.ts';
import { Timestamp } from '../common/time.ts';
import { Approval } from '../registry/approval-api.ts';
import { CANARY_STAGE_NAMES, CHALLENGE_STATUSES, OUTCOMES } from '../registry/stored-challenge.ts';
import { STAGES } from '../registry/stored-registry.ts';
import { EVENT_TYPES, type EventType } from '../values/event-types.ts';

/** The catalogue of events: one schema for each type. Events name a resource and who changed it. */

const market = {
  exchange: z.string(),
  timeframe: z.string(),
};

const job = {
  job_id: z.string(),
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  ...market,
  pairs: z.array(z.string()),
};

const failure = z.object({
  ...job,
  error: z.object({ code: z.string(), message: z.string() }),
});

const version = z.object({
  model_name: z.string(),
  version: z.string(),
  from: z.enum(STAGES).nullable().meta({ description: 'Stage before the change; null at registration' }),
  to: z.enum(STAGES),
  production: z.string().nullable().meta({ description: 'Version in Production after the change' }),
  previous_production: z.string().nullable().meta({ description: 'Version in Production before the change' }),
  reason: z.string().nullable(),
  notes: z.array(z.string()),
  challenge_id: z
    .string()
    .nullable()
    .meta({ description: 'Challenge that caused the change, or that the caller named; null without one' }),
});

const approval = Approval.omit({ requested_at: true, decided_at: true });

const challenge = z.object({
  challenge_id: z.string(),
  status: z.enum(CHALLENGE_STATUSES).meta({ description: 'Status after the change' }),
  outcome: z.enum(OUTCOMES).nullable(),
  canary_stage: z.enum(CANARY_STAGE_NAMES),
  reason: z.string().nullable(),
});

const collected = z.object({
  ...market,
  symbols: z.array(z.string()),
  start: Timestamp,
  end: Timestamp,
  collection_id: z
    .string()
    .nullable()
    .meta({ description: 'null when the candles were collected for a job' }),
  job_id: z.string().nullable().meta({ description: 'Job that needed the candles; null for a collection' }),
  message: CollectionOutcome.shape.message.nullable().meta({
    description: 'Result of the collection for a job; null for a collection',
  }),
});

const gap = z.object({
  ...market,
  symbol: z.string(),
  gaps: z.int().meta({ description: 'Gaps between the first and the last stored candle' }),
  new_gaps: z.int().meta({ description: 'Gaps that the series did not have before' }),
});

/** Schema of `data`, by type. */
const EVENT_DATA = {
  'backtest.started': z.object(job),
  'backtest.completed': z.object({ ...job, result: BacktestResult }),
  'backtest.failed': failure,
  'backtest.cancelled': z.object(job),
  'hyperopt.started': z.object(job),
  'hyperopt.completed': z.object({
    ...job,
    best_trial: z.int(),
    best_value: z.number().meta({ description: 'Value of the objective metric of the best trial' }),
  }),
  'hyperopt.failed': failure,
  'hyperopt.cancelled': z.object(job),
  'version.registered': version,
  'version.staged': version,
  'version.promoted': version,
  'version.rolled_back': version,
  'version.stopped': version,
  'version.refused': version,
  'version.ready_to_promote': version,
  'approval.requested': approval,
  'approval.approved': approval,
  'approval.declined': approval,
  'approval.withdrawn': approval,
  'approval.expired': approval,
  'challenge.advanced': challenge,
  'challenge.held': challenge,
  'challenge.won': challenge,
  'challenge.lost': challenge,
  'challenge.expired': challenge,
  'challenge.refused': challenge,
  'data.stale': collected,
  'data.gap': gap,
  'data.collected': collected,
} as const satisfies Record<EventType, z.ZodObject>;
export type EventData<T extends EventType> = z.infer<(typeof EVENT_DATA)[T]>;

const attributes = {
  specversion: z.literal('1.0'),
  id: z.string().meta({
    description: 'The same for each delivery of an event. Use it to ignore repeated deliveries',
  }),
  source: z.string().meta({
    description:
      'Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only',
  }),
  subject: z.string().meta({
    description:
      'Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`',
  }),
  time: Timestamp.meta({ description: 'Time of the change, ISO 8601, UTC' }),
  actor: z.string().meta({
    description: 'User who made the change; `platform` when it did itself',
  }),
  datacontenttype: z.literal('application/json'),
  sequence: z.int().meta({
    description:
      'Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order',
  }),
};

/** Schema of the events of a type. */
function eventSchema(type: EventType): z.ZodObject {
  const id = type
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
  return z
    .object({ ...attributes, type: z.literal(type), data: EVENT_DATA[type] })
    .meta({ id: `${id}Event`, description: EVENT_TYPES[type] });
}

/** Schema of each type. */
export const EVENT_SCHEMAS = Object.fromEntries(
  Object.keys(EVENT_TYPES).map((type) => [type, eventSchema(type as EventType)]),
) as unknown as { readonly [T in EventType]: z.ZodType<Extract<PlatformEvent, { readonly type: T }>> };

/** An event of any type, with the attributes of CloudEvents 1.0 and its extensions `sequence` and `actor`. */
export type PlatformEvent = {
  readonly [T in EventType]: {
    readonly specversion: '1.0';
    readonly id: string;
    readonly source: string;
    readonly type: T;
    readonly subject: string;
    readonly time: string;
    readonly actor: string;
    readonly datacontenttype: 'application/json';
    readonly sequence: number;
    readonly data: EventData<T>;
  };
}[EventType];
