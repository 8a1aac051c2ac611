import type { Overview, OverviewJob } from '#contract/platform/overview-api.ts';

const MINUTE = 60_000;
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE).toISOString();

function job(id: string, more: Partial<OverviewJob>): OverviewJob {
  return {
    kind: 'backtest',
    id,
    status: 'running',
    progress: 0.42,
    name: 'ema_crossover',
    experiment_name: null,
    exchange: 'sim',
    created_at: ago(9),
    started_at: ago(8),
    finished_at: null,
    total_profit_pct: null,
    best_value: null,
    look_ahead: null,
    new_candles: null,
    error: null,
    ...more,
  };
}

const counts = {
  pending: { value: 1, relation: 'exact' },
  running: { value: 2, relation: 'exact' },
  completed: { value: 1_000, relation: 'at_least' },
  failed: { value: 3, relation: 'exact' },
  cancelled: { value: 0, relation: 'exact' },
} as const;

type Challenge = NonNullable<Overview['challenges']>['items'][number];

function challenge(id: string, more: Partial<Challenge>): Challenge {
  return {
    challenge_id: id,
    model_name: 'ema_crossover',
    champion_version: '1',
    challenger_version: '2',
    status: 'active',
    traffic_split: [0.95, 0.05],
    outcome: null,
    promoted_at: null,
    hold: null,
    next_stage: null,
    created_at: ago(300),
    ...more,
  } as Challenge;
}

/** An overview of a busy platform in which the collections and the data could not be read. */
export function busyOverview(): Overview {
  const ended = { status: 'completed', progress: 1, finished_at: ago(5) } as const;
  return {
    evaluated_at: ago(0),
    missing: ['collections', 'freshness'],
    counts: { backtests: counts, hyperopt: counts, collections: null },
    moving: [
      job('bt-1', {}),
      job('ho-1', { kind: 'hyperopt', experiment_name: 'Averages and exits with a long name' }),
      job('bt-2', { status: 'pending', progress: 0, started_at: null }),
    ],
    ended: [
      job('bt-3', { ...ended, total_profit_pct: -3.456 }),
      job('ho-2', { ...ended, kind: 'hyperopt', best_value: 1.5 }),
      job('bt-4', {
        status: 'failed',
        progress: null,
        finished_at: ago(6),
        error: 'The strategy returned no signals',
      }),
    ],
    production: { items: [], more: false },
    challenges: {
      items: [
        challenge('ch-1', {}),
        challenge('ch-2', { hold: { reason: 'approval', since: ago(30), note: null } }),
        challenge('ch-3', { status: 'completed', outcome: 'challenger_wins' }),
      ],
      more: false,
    },
    waiting: { count: 0, approvals: [], challenges: [], more: false },
    freshness: null,
  };
}
