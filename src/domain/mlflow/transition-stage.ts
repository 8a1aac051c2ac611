import { CodedError } from '#contract/values/errors.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { type PromoteVersionDeps, promoteVersion } from '../registry/promote-version.ts';
import { getVersion, type ReadModelsDeps } from '../registry/read-models.ts';
import { type RollbackModelDeps, rollbackModel } from '../registry/rollback-model.ts';
import { type StageVersionDeps, stageVersion } from '../registry/stage-version.ts';
import { stopModel } from '../registry/stop-model.ts';
import type { TransitionCall } from '../transitions/apply-transition.ts';
import { stageOf } from './models.ts';

export type TransitionStageDeps = StageVersionDeps & PromoteVersionDeps & RollbackModelDeps & ReadModelsDeps;

/** A stage to which MLflow's client can bring a version. */
const TARGETS = ['Staging', 'Production', 'Archived'] as const;
type Target = (typeof TARGETS)[number];

/** The stage to which a version is brought. Throws VAL005 for a stage that does not exist, RES005 for one that others lead to. */
export function transitionTarget(name: string): Target {
  const stage = stageOf(name, 'stage');
  const target = TARGETS.find((each) => each === stage);
  if (target) return target;
  throw new CodedError('RES005', {
    message: `No version can be brought to ${stage}: only to ${TARGETS.slice(0, -1).join(', ')} or ${TARGETS.at(-1)}.`,
    field: 'stage',
    context: { allowed: TARGETS },
  });
}

/**
 * Brings a version to a stage as MLflow's client asks for it, by the registry's own rules: an archived version returns to Production
 * by a rollback, and archiving the version in Production is a stop. Throws what {@link stageVersion}, {@link promoteVersion},
 * {@link rollbackModel} and {@link stopModel} throw, and RES005 where a version in Production would be archived against
 * `archivesExisting`. Returns the number of the version: the alias `champion` has none after a stop.
 */
export async function transitionStage(
  deps: TransitionStageDeps,
  call: TransitionCall,
  { model, version, stage, archivesExisting }: TransitionRequest,
): Promise<string> {
  const comment = 'By the API of MLflow';
  const { stage: before, version: number } = await getVersion(deps, { model, version });
  // Not to archive the version in Production means: only where there is none.
  const expected_production = archivesExisting ? undefined : null;
  if (stage === 'Staging') await stageVersion(deps, call, { model, version, comment });
  else if (stage === 'Archived') {
    await stopModel(deps, call, { model, reason: NO_REASON, expected_production: number }).catch((error) =>
      archivesOther(error, number),
    );
  } else if (before === 'Archived') {
    if (deps.rollbackReasonRequired) throw withoutReason();
    await rollbackModel(deps, call, { model, version, reason: comment, expected_production }).catch(
      archivesNone,
    );
  } else
    await promoteVersion(deps, call, { model, version, comment, expected_production }).catch(archivesNone);
  return number;
}

/** Reason of a stop: MLflow's client has no field for it. */
const NO_REASON = 'MLflow';

/** Says in the words of MLflow's client why a version that is not in Production cannot be archived. */
function archivesOther(error: unknown, version: string): never {
  if (!(error instanceof CodedError) || error.field !== 'expected_production') throw error;
  const { current_production } = error.context;
  throw new CodedError('RES005', {
    message: `Version ${version} is not in Production: only the version in Production can be archived, which stops it`,
    field: 'stage',
    context: { current_production },
  });
}

/** The client of MLflow has no field for it, and a text of the platform is no reason. */
function withoutReason(): CodedError {
  return new CodedError('VAL004', {
    message: `A rollback requires a reason, which MLflow's client cannot pass: use ${TOUCHSTONE} rollback with --reason`,
    field: 'stage',
  });
}

interface TransitionRequest {
  readonly model: string;
  readonly version: string;
  readonly stage: Target;
  /** False: refuse where the version in Production would be archived. */
  readonly archivesExisting: boolean;
}

/** Says in the words of MLflow's client why a promotion was refused that may archive no version. */
function archivesNone(error: unknown): never {
  if (!(error instanceof CodedError) || error.field !== 'expected_production') throw error;
  const { current_production } = error.context;
  throw new CodedError('RES005', {
    message: `Version ${current_production} is in Production and would be archived: pass archive_existing_versions=True`,
    field: 'archive_existing_versions',
    context: { current_production },
  });
}
