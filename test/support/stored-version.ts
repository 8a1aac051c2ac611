import type { StoredVersion } from '#contract/registry/stored-registry.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS } from './jobs.ts';

const AT = '2026-05-01T00:00:00.000Z';

/** Valid version in Staging; `changes` override its fields. */
export function storedVersion(version: string, changes: Partial<StoredVersion> = {}): StoredVersion {
  return {
    schema_version: 1,
    model_name: 'ema_crossover',
    version,
    backtest_run_id: `bt-${version}`,
    config: pendingJob(`bt-${version}`).config,
    container_image_uri: 'registry.example/touchstone:1',
    image_digest: null,
    metrics: SOME_RESULT,
    results: SOME_RESULTS,
    thresholds: null,
    candle_digest: 'c',
    strategy_digest: 's',
    engine_version: '1',
    trials: 1,
    content_hash: `hash-${version}`,
    description: '',
    tags: [],
    created_by: 'anonymous',
    created_at: AT,
    updated_at: AT,
    stage: 'Staging',
    validation: { status: 'skipped', checks: [], job_id: null },
    staged_at: AT,
    promoted_at: null,
    archived_at: null,
    rolled_back: false,
    rolled_back_reason: null,
    stopped: false,
    stopped_reason: null,
    waivers: [],
    ...changes,
  };
}
