import type { ExportFormat } from '#contract/backtest-export.ts';
import { CodedError } from '#contract/errors.ts';

/** Files of a completed backtest as MLflow's artifacts, by name. */
const FILES: Readonly<Record<string, ExportFormat>> = {
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
