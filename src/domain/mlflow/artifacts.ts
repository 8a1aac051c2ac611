import type { ExportFormat } from '#contract/backtests/backtest-export.ts';
import { CodedError } from '#contract/values/errors.ts';

/** Files of a completed backtest as MLflow's artifacts, by name. */
const FILES: Readonly<Record<string, ExportFormat>> = {
  'orders.csv': 'orders',
  'report.html': 'html',
  'report.json': 'json',
  'trades.csv': 'csv',
  'trades.parquet': 'parquet',
};

export const ARTIFACT_NAMES = Object.keys(FILES);

/** Where MLflow's clients find the artifacts of a run: below the address of the registry itself. */
export function artifactUri(jobId: string): string {
  return `mlflow-artifacts:/${jobId}`;
}

/** Sources that MLflow's clients name a run's artifacts by: of the run itself, or of a file of it. */
const SOURCE = /^(?:mlflow-artifacts|runs):\/{1,2}([^/]+)(?:\/.*)?$/;

/** The run that a new version is registered from: the one named, which is that of the source. Throws VAL004, VAL005. */
export function registeredRun({
  run_id = '',
  source = '',
}: {
  readonly run_id?: string | undefined;
  readonly source?: string | undefined;
}): string {
  const named = SOURCE.exec(source)?.[1];
  if (source !== '' && (named === undefined || (run_id !== '' && named !== run_id))) {
    throw new CodedError('VAL005', {
      message: `source must be the artifacts of the backtest, such as ${artifactUri(run_id || 'bt-<id>')}: the platform stores no others`,
      field: 'source',
      context: { value: source.slice(0, 100) },
    });
  }
  const run = run_id || named;
  if (run !== undefined) return run;
  throw new CodedError('VAL004', {
    message: 'run_id is required: the backtest to register',
    field: 'run_id',
  });
}

/** Format of the export that makes a file. Throws VAL005 for an unknown name. */
export function formatOf(file: string): ExportFormat {
  const format = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
  if (format) return format;
  throw new CodedError('VAL005', {
    message: `A run has no file ${JSON.stringify(file.slice(0, 100))}: it has ${ARTIFACT_NAMES.join(', ')}`,
    field: 'file',
    context: { allowed: ARTIFACT_NAMES },
  });
}
