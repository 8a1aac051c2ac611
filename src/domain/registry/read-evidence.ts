import type { JobIn } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import { RegisteredReport } from '#contract/report.ts';
import type { Evidence } from '#contract/stored-registry.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { StudyStore } from '../hyperopt/study-ports.ts';
import type { ResultStore } from '../ports.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { isoTime } from '../validate.ts';

/** What a backtest proves a version by: its candles, and the search behind its parameters. */

/** Provenance of a stored report and the range of its candles. Throws DATA005 when it cannot be read. */
export async function readReport(results: ResultStore, { results: stored, config }: JobIn<'completed'>) {
  const report = RegisteredReport.safeParse(await results.read(stored, 'report'));
  if (!report.success) {
    throw new CodedError('DATA005', { message: 'The stored report is broken', cause: report.error });
  }
  const { provenance, data } = report.data;
  const first = Math.min(...data.map((pair) => Date.parse(pair.first)));
  const last = Math.min(...data.map((pair) => Date.parse(pair.last)));
  const to = last + TIMEFRAME_MS[config.timeframe];
  const range: Pick<Evidence, 'from' | 'to'> = { from: isoTime(first), to: isoTime(to) };
  return { provenance, range };
}

interface Lineage {
  /** Configurations tried to find this one. */
  readonly trials: number;
  readonly search: Pick<Evidence, 'hyperopt_job_id' | 'deflated_sharpe_ratio'>;
}

/** One configuration was run to find it. */
const NO_SEARCH: Lineage = { trials: 1, search: { hyperopt_job_id: null, deflated_sharpe_ratio: null } };

/**
 * The search that found a backtest's parameters: its own hyperopt job, or that of the registered version that it ran again.
 * Throws DATA005, SVC005.
 */
export async function lineageOf(
  deps: { readonly studies: Pick<StudyStore, 'get'>; readonly registry: Pick<RegistryStore, 'read'> },
  { found_by, registered }: JobIn<'completed'>,
): Promise<Lineage> {
  if (found_by) {
    const { hyperopt_job_id, trials } = found_by;
    const study = await deps.studies.get(hyperopt_job_id);
    const overfitting = study?.status === 'completed' ? study.outcome.overfitting : undefined;
    return {
      trials,
      search: { hyperopt_job_id, deflated_sharpe_ratio: overfitting?.deflated_sharpe_ratio ?? null },
    };
  }
  if (!registered) return NO_SEARCH;
  const { model_name, version } = registered;
  const { versions } = await deps.registry.read(model_name, [version]);
  const source = versions.get(version);
  if (!source) return NO_SEARCH;
  const { hyperopt_job_id = null, deflated_sharpe_ratio = null } = source.evidence ?? {};
  return { trials: source.trials, search: { hyperopt_job_id, deflated_sharpe_ratio } };
}
