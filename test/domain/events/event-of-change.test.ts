import { expect, test } from 'vitest';
import { EVENT_SCHEMAS } from '#contract/platform/events.ts';
import type { StoredApproval } from '#contract/registry/stored-approval.ts';
import { EVENT_TYPES, type EventType } from '#contract/values/event-types.ts';
import { applyDeadlines } from '#domain/challenges/apply-deadlines.ts';
import { changeOf } from '#domain/challenges/challenge-change.ts';
import { begin } from '#domain/challenges/challenge-state.ts';
import { eventsOf, type TableChange } from '#domain/events/event-of-change.ts';
import { isoTime } from '#domain/shared/iso-time.ts';
import { pendingHyperopt } from '../../support/hyperopt-workers.ts';
import { pendingJob, SOME_RESULT } from '../../support/jobs.ts';
import { storedApproval } from '../../support/stored-approval.ts';
import { storedChallenge } from '../../support/stored-challenge.ts';

const AT = '2026-06-01T00:00:00.000Z';
const at = Date.parse(AT) + 1_000;

const failed = { status: 'failed', error: 'why', error_code: 'SVC001', finished_at: AT };
const cancelled = { status: 'cancelled', finished_at: AT, cancelled_by: 'ann' };
const running = { status: 'running', started_at: AT };

function jobChange(job: object, before: object, after: object, id = 'bt-1'): TableChange {
  return {
    keys: { job_id: id, item: 'JOB' },
    before: { ...job, revision: 6, ...before },
    after: { ...job, revision: 7, ...after },
    at,
  };
}
const backtest = (before: object, after: object) => jobChange(pendingJob('bt-1'), before, after);
const hyperopt = (before: object, after: object) => jobChange(pendingHyperopt('ho-1'), before, after, 'ho-1');

const version = (action: string, notes: string[] = []): TableChange => ({
  keys: { pk: 'MODEL#ema', sk: `EVENT#${AT}#000000007` },
  after: {
    model_name: 'ema',
    version: '2',
    from: 'None',
    to: 'Staging',
    production: null,
    previous_production: null,
    action,
    sequence: 7,
    at: AT,
    actor: 'ann',
    reason: null,
    notes,
    challenge_id: null,
  },
  at,
});
const challenge = (action: string, outcome: string | null = null): TableChange => ({
  keys: { pk: 'CHALLENGE#ch-1', sk: 'EVENT#000000007' },
  after: {
    challenge_id: 'ch-1',
    sequence: 7,
    at: AT,
    actor: 'ann',
    action,
    outcome,
    status: 'active',
    canary_stage: 'stage_2',
    reason: null,
  },
  at,
});
const ended = { decided_by: 'ann', decided_at: AT };
const approval = (status: StoredApproval['status'], more: Partial<StoredApproval> = {}): TableChange => ({
  keys: { pk: 'APPROVALS', sk: 'ap-1' },
  before: { ...storedApproval(), written_at: AT },
  after: { ...storedApproval({ status, ...more }), written_at: AT },
  at,
});
const months = (...gaps: number[]) => ({ months: JSON.stringify(gaps.map((gap_count) => ({ gap_count }))) });
const series = { exchange: 'sim#months', series: 'BTC/USDT:USDT#1h' };
const collection = (status: string) => ({
  revision: 7,
  stored: {
    collection_id: 'co-1',
    status,
    exchange: 'sim',
    symbols: ['BTC/USDT:USDT'],
    timeframe: '1h',
    start: AT,
    end: AT,
    updated_at: AT,
  },
});
const outcome = (status: string) => ({ collection: { status, message: 'm', at: AT } });

const CHANGES: Readonly<Record<EventType, TableChange>> = {
  'backtest.started': backtest({}, running),
  'backtest.completed': backtest(running, { status: 'completed', result: SOME_RESULT, finished_at: AT }),
  'backtest.failed': backtest({}, failed),
  'backtest.cancelled': backtest(running, cancelled),
  'hyperopt.started': hyperopt({}, running),
  'hyperopt.completed': hyperopt(running, {
    status: 'completed',
    finished_at: AT,
    outcome: { best_trial: 3, best_value: 1.5 },
  }),
  'hyperopt.failed': hyperopt(running, failed),
  'hyperopt.cancelled': hyperopt({}, cancelled),
  'version.registered': version('register'),
  'version.staged': version('stage'),
  'version.promoted': version('promote'),
  'version.rolled_back': version('rollback'),
  'version.stopped': version('stop'),
  'version.refused': version('validate', ['validation failed']),
  'version.ready_to_promote': version('validate', ['validation passed']),
  'approval.requested': { ...approval('requested'), before: undefined },
  'approval.approved': approval('approved', ended),
  'approval.declined': approval('declined', ended),
  'approval.withdrawn': approval('withdrawn', ended),
  'approval.expired': approval('expired'),
  'challenge.advanced': challenge('advance'),
  'challenge.held': challenge('hold'),
  'challenge.won': challenge('complete', 'challenger_wins'),
  'challenge.lost': challenge('complete', 'champion_wins'),
  'challenge.expired': challenge('expire'),
  'challenge.refused': challenge('promotion_rejected', 'challenger_wins'),
  'data.stale': backtest({}, outcome('failed')),
  'data.gap': {
    keys: series,
    before: { revision: 6, ...months(1, 0) },
    after: { revision: 7, ...months(1, 2) },
    at,
  },
  'data.collected': {
    keys: { exchange: '#collections', series: 'co-1' },
    before: collection('running'),
    after: collection('completed'),
    at,
  },
};

const SOURCE = 'touchstone/local/1';

const derive = (...changes: TableChange[]) =>
  eventsOf(SOURCE, changes, (error) => {
    throw error;
  });

test.each(Object.keys(EVENT_TYPES) as EventType[])('a change becomes %s, as its schema says', (type) => {
  const [event, ...others] = derive(CHANGES[type]);
  expect(others).toEqual([]);
  expect(event).toEqual(EVENT_SCHEMAS[type].parse(event));
  const sequence = { approval: type === 'approval.requested' ? 1 : 2 }[type.split('.')[0] as 'approval'] ?? 7;
  expect(event).toMatchObject({ type, sequence, specversion: '1.0', source: SOURCE });
  const isByUser = /^(version|challenge|approval\.[^e])|cancelled$/.test(type);
  expect(event!.actor).toBe(isByUser ? 'ann' : 'platform');
  // A repeated delivery has the same id, and other changes have others.
  expect(derive(CHANGES[type])).toEqual([event]);
  expect(derive({ ...CHANGES[type], after: undefined })).toEqual([]);
});

const passed = version('validate', ['validation passed']);
const promotedMeanwhile = { ...passed, after: { ...passed.after, to: 'Production' } };

test.each<[string, TableChange]>([
  ['progress of a job', backtest(running, { ...running, progress: 0.5 })],
  ['another attempt', backtest(running, { ...running, attempt: 2 })],
  ['a validation', backtest({ kind: 'validation' }, { ...running, kind: 'validation' })],
  ['a run of the canary', backtest({ kind: 'canary' }, { ...running, kind: 'canary' })],
  ['a new job', { ...backtest({}, {}), before: undefined }],
  ['a trial', { ...CHANGES['hyperopt.completed'], keys: { job_id: 'ho-1', item: 'TRIAL#000001' } }],
  ['a passed validation of a promoted version', promotedMeanwhile],
  ['a request for approval that stays open', approval('requested')],
  ['a copy of an old request, by a restore', { ...approval('approved', ended), at: at + 2 * 60 * 60_000 }],
  ['a tag in words of a user', version('label', ['validation failed'])],
  ['a version', { ...version('stage'), keys: { pk: 'MODEL#ema', sk: 'VERSION#000002' } }],
  ['a call in the audit trail', { ...version('stage'), keys: { pk: 'AUDIT#2026-06-01#0', sk: `${AT}#1` } }],
  ['a resumed challenge', challenge('resume')],
  ['a series with fewer gaps', { ...CHANGES['data.gap'], before: { revision: 6, ...months(5) } }],
  [
    'a completed collection that changes again',
    { ...CHANGES['data.collected'], before: collection('completed') },
  ],
  ['a copy of an old item, by an upgrade', { ...version('promote'), at: at + 2 * 60 * 60_000 }],
  ['an event in the log', { keys: { job_id: '#events', item: AT }, after: { event: '{}' }, at }],
])('%s is no event', (_, change) => {
  expect(derive(change)).toEqual([]);
});

test('a change that cannot be read is reported and stops no other', () => {
  const broken: TableChange = { keys: series, after: { revision: 1, months: 'x' }, at };
  const errors: unknown[] = [];
  const events = eventsOf(SOURCE, [broken, CHANGES['version.staged']], (error) => errors.push(error));
  expect(events.map(({ type }) => type)).toEqual(['version.staged']);
  expect(errors).toHaveLength(1);
});

test('end of a challenge whose deadline passed while the platform was stopped is an event, and a restored one is none', () => {
  const DAY = 24 * 60 * 60_000;
  const expired = challenge('expire');
  const written_at = new Date(Date.parse(AT) + DAY).toISOString();
  const late = { ...expired, after: { ...expired.after, written_at }, at: at + DAY };
  const fail = (error: unknown) => {
    throw error;
  };
  expect(eventsOf('s', [late], fail)).toMatchObject([{ type: 'challenge.expired', time: AT }]);
  expect(eventsOf('s', [{ ...late, at: at + 2 * DAY }], fail)).toEqual([]);
});

test('end of a challenge that is stored after its deadline says when it was stored', () => {
  const stored = storedChallenge({ ends_at: AT });
  const now = Date.parse(AT) + 24 * 60 * 60_000;
  const changed = changeOf(stored, applyDeadlines(begin(stored), now), isoTime(now))!;
  expect(changed.events).toMatchObject([{ action: 'expire', at: AT, written_at: isoTime(now) }]);
  const onTime = changeOf(stored, applyDeadlines(begin(stored), Date.parse(AT)), AT)!;
  expect(onTime.events[0]).not.toHaveProperty('written_at');
});
