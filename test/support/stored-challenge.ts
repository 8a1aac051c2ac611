import type { StoredChallenge } from '#contract/registry/stored-challenge.ts';
import { NO_TRADES } from '#domain/challenges/challenge-state.ts';

const AT = '2026-05-01T00:00:00.000Z';

/** Valid active challenge without trades; `changes` override its fields. */
export function storedChallenge(changes: Partial<StoredChallenge> = {}): StoredChallenge {
  return {
    schema_version: 2,
    challenge_id: 'ch-1',
    model_name: 'ema_crossover',
    champion_version: '1',
    challenger_version: '2',
    status: 'active',
    outcome: null,
    reason: null,
    enable_canary: true,
    min_trades: 100,
    effective_min_trades: 100,
    min_hours: 0,
    min_assignments: 0,
    max_duration_hours: 168,
    max_drawdown_pct: null,
    max_errors: null,
    approval_stages: [],
    on_rollback: 'finish',
    auto_promote: false,
    stages: [{ canary_stage: 'stage_1', since: AT, champion: NO_TRADES, challenger: NO_TRADES }],
    hold: null,
    acknowledged_holds: [],
    planned_look: null,
    equity: { profit: 0, peak: 0, drawdown: 0 },
    analysis_unit: 'trade',
    keys_with_several_trades: 0,
    trades: 0,
    misassigned: 0,
    late: 0,
    evaluations: 0,
    evaluated_trades: 0,
    warnings: [],
    revision: 1,
    events: 1,
    created_by: 'anonymous',
    created_at: AT,
    updated_at: AT,
    last_traffic_at: AT,
    ends_at: '2026-05-08T00:00:00.000Z',
    ended_at: null,
    promoted_at: null,
    promotion_rejected: null,
    ...changes,
  };
}
