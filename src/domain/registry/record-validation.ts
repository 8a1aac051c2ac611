import { existing, lookUpVersion } from './find-version.ts';
import { type Decision, type MoveDeps, makeMove } from './make-move.ts';
import { momentAfter, planMove } from './plan-move.ts';
import type { StagingOutcome } from './staging-checks.ts';
import { settle } from './validation.ts';

export interface RecordValidationInput {
  readonly model: string;
  readonly version: string;
  /** Job of the checks: a version that waits for another one, or for none, stays as it is. */
  readonly jobId: string;
  readonly outcome: StagingOutcome;
  readonly correlationId: string;
}

/**
 * Copies the end of a staging's checks into the version that waits for it, wherever the version is by then. Repeating it
 * changes nothing. Answers whether this call changed something.
 * Throws RES002, RES003, RES005 (too many moves at once), SVC005.
 */
export async function recordValidation(deps: MoveDeps, input: RecordValidationInput): Promise<boolean> {
  const { model, version, jobId, outcome, correlationId } = input;
  const call = {
    actor: { id: 'touchstone', groups: [], isAdmin: false },
    idempotencyKey: null,
    correlationId,
  };
  const reference = { model, version, field: 'version' };
  const { body } = await makeMove(
    deps,
    { operation: 'recordValidation', call, input: null },
    () => lookUpVersion(deps.registry, reference, null),
    async (state): Promise<Decision<boolean>> => {
      const found = existing(reference, state);
      const { validation } = found.version;
      if (validation.status !== 'pending' || validation.job_id !== jobId) return { body: false, move: null };
      const at = momentAfter(deps, found.model);
      const settled = settle(validation, outcome);
      const after = { ...found.version, validation: settled, updated_at: at };
      const notes = [`validation ${settled.status}`];
      const change = { action: 'validate', call, at, before: found.version, version: after, notes } as const;
      return { body: true, move: planMove(deps, found.model, change) };
    },
  );
  return body;
}
