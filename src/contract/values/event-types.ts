/** Types of events. */

/** Type of each event, and the change that it reports. The order is that of docs/events.md. */
export const EVENT_TYPES = {
  'backtest.started': 'A task has claimed the backtest',
  'backtest.completed': 'The backtest has results',
  'backtest.failed': 'The backtest has ended with an error',
  'backtest.cancelled': 'A user has cancelled the backtest',
  'hyperopt.started': 'A worker has started the first trials',
  'hyperopt.completed': 'The hyperopt job has a best trial',
  'hyperopt.failed': 'The hyperopt job has ended with an error',
  'hyperopt.cancelled': 'A user has cancelled the hyperopt job',
  'version.registered': 'A version of a model was registered',
  'version.staged': 'A version entered Staging',
  'version.promoted': 'A version entered Production',
  'version.rolled_back': 'A rollback took a version out of Production',
  'version.stopped': 'A stop took a version out of Production, without a successor',
  'version.refused': 'The staging checks of a version failed',
  'version.ready_to_promote': 'The staging checks of a version have ended, and none failed',
  'approval.requested': 'A user requests a transition that another user approves',
  'approval.approved': 'The request was approved, and its transition made',
  'approval.declined': 'The request was declined',
  'approval.withdrawn': 'The request was withdrawn, or its transition happened otherwise',
  'approval.expired': 'Nobody decided about the request before its due time',
  'challenge.advanced': 'The challenger receives a larger share of the traffic',
  'challenge.held': 'The challenge waits for an approver or for more data',
  'challenge.won': 'The challenger won',
  'challenge.lost': 'The champion won, or the challenger was rolled back',
  'challenge.expired': 'The challenge reached its maximum duration without a verdict',
  'challenge.refused': 'The release rules rejected the promotion of a winner',
  'data.stale': 'Candles for a job were stale, and their collection failed',
  'data.gap': 'A candle series has more gaps than before',
  'data.collected': 'Candles were collected',
} as const;
export type EventType = keyof typeof EVENT_TYPES;

/** Source of the events for the rules of the EventBridge bus, and the first part of `source` in CloudEvents. */
export const BUS_SOURCE = 'touchstone';

/**
 * CloudEvents' attribute `source`. IDs are unique in a source only: two platforms have equal ones for different events.
 *
 * @param platform name that no other platform has
 */
export function eventSource(stage: string, platform: string): string {
  return `${BUS_SOURCE}/${stage}/${platform}`;
}

/** Days for which the event log keeps an event. */
export const EVENT_LOG_DAYS = 7;

const KINDS = [...new Set(Object.keys(EVENT_TYPES).map((type) => type.slice(0, type.indexOf('.'))))];
const SELECTOR = [
  String.raw`\*`,
  ...KINDS.map((kind) => String.raw`${kind}\.\*`),
  ...Object.keys(EVENT_TYPES).map((type) => type.replace('.', String.raw`\.`)),
].join('|');

/** Selection of event types: a comma-separated list of types, `version.*` for all of a kind, or `*` for all. */
export const EVENT_SELECTION = new RegExp(`^(${SELECTOR})(,(${SELECTOR})){0,31}$`);

/** True when a selection, as {@link EVENT_SELECTION} allows, has the type. */
export function selects(selection: string, type: EventType): boolean {
  return selection
    .split(',')
    .some((each) => each === '*' || each === type || each === `${type.slice(0, type.indexOf('.'))}.*`);
}
