import type { ErrorBody, RequestValidationError } from '#contract/common/error-bodies.ts';
import type { MlflowError } from '#contract/registry/mlflow-api.ts';

/** Codes of MLflow by status: https://github.com/mlflow/mlflow/blob/master/mlflow/exceptions.py */
const CODES: Readonly<Record<number, string>> = {
  400: 'INVALID_PARAMETER_VALUE',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'RESOURCE_DOES_NOT_EXIST',
  409: 'RESOURCE_CONFLICT',
  410: 'RESOURCE_DOES_NOT_EXIST',
  429: 'REQUEST_LIMIT_EXCEEDED',
  500: 'INTERNAL_ERROR',
  502: 'TEMPORARILY_UNAVAILABLE',
  503: 'TEMPORARILY_UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const NOT_SERVED =
  "Touchstone does not serve this call of MLflow's API: it serves the registry, experiments, runs and artifacts for reading, and versions, their stages, aliases and tags for writing. Backtests and hyperopt jobs make the runs.";

/** An error body as MLflow's client reads it: the code by the status, and what Touchstone says of it. */
export function mlflowError(status: number, { detail }: ErrorBody | RequestValidationError): MlflowError {
  if (Array.isArray(detail)) {
    const message = detail
      .map(({ loc, msg }) => [loc.slice(1).join('.'), msg].filter(Boolean).join(': '))
      .join('; ');
    return { error_code: 'INVALID_PARAMETER_VALUE', message };
  }
  const { code, message, context } = detail;
  // The code that MLflow's own server has for calls that a store lacks.
  if (code === 'HTTP404') return { error_code: 'NOT_IMPLEMENTED', message: NOT_SERVED };
  // A use case knows it where the status does not.
  if (code === 'RES005' && context.exists === true)
    return { error_code: 'RESOURCE_ALREADY_EXISTS', message: `${message} (${code})` };
  return { error_code: CODES[status] ?? 'BAD_REQUEST', message: `${message} (${code})` };
}
