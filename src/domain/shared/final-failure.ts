import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import { BacktestError, type BacktestErrorKind, cutError } from '#engine/strategy-errors.ts';
import { CorruptFileError } from './corrupt-file.ts';

/** Codes of failures that another attempt would repeat: they end the job. Other codes are errors of the environment. */
const FINAL_CODES: readonly ErrorCode[] = ['DATA001', 'DATA002', 'DATA003', 'RES002', 'VAL005', 'VAL006'];

const CODE_OF: Record<BacktestErrorKind, ErrorCode> = {
  insufficient_data: 'DATA001',
  invalid_candles: 'DATA002',
  strategy: 'VAL006',
};

/** Final failure of a job. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Final failure that another process has found. */
export class FinalError extends CodedError {
  constructor({ code, message }: Failure) {
    super(code, { message });
  }
}

/**
 * Failure that ends a job, since another attempt would repeat it. Undefined for errors that another attempt may
 * survive.
 */
export function finalFailure(error: unknown): Failure | undefined {
  if (error instanceof BacktestError) return { code: CODE_OF[error.kind], message: cutError(error.message) };
  // A corrupt file is as corrupt for another attempt: it is collected before the next run.
  if (
    error instanceof CodedError &&
    (error instanceof CorruptFileError || error instanceof FinalError || FINAL_CODES.includes(error.code))
  ) {
    return { code: error.code, message: cutError(error.message) };
  }
  return undefined;
}
