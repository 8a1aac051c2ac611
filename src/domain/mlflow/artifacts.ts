import type { JobIn } from '#contract/backtests/backtest.ts';
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

/** The file that makes a folder a model for MLflow: https://mlflow.org/docs/latest/ml/model */
export const MODEL_FILE = 'MLmodel';
/** A folder that has the same files: MLflow's client registers a model of a run by its folder. */
const MODEL_FOLDER = 'model';

const ARTIFACT_NAMES = [MODEL_FILE, ...Object.keys(FILES)];

/** Files below a path of a completed backtest. A file has none: so the client knows it from a folder. */
export function filesBelow(path: string): readonly string[] {
  return path === '' || path === MODEL_FOLDER ? ARTIFACT_NAMES : [];
}

/** Contents of {@link MODEL_FILE}, in JSON, which is YAML. No flavor of MLflow loads a strategy. */
export function modelFile(job: JobIn<'completed'>): string {
  const { strategy } = job.config;
  const flavor = { strategy, strategy_digest: job.strategy_digest, results_digest: job.results.digest };
  const model = {
    artifact_path: MODEL_FOLDER,
    run_id: job.job_id,
    utc_time_created: job.finished_at,
    flavors: { touchstone: flavor },
  };
  return `${JSON.stringify(model, null, 2)}\n`;
}

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
