/** Digests of what every trial of a job runs and reads: trials with other ones are not comparable. */
export interface TrialInputs {
  /** Of the strategy and the engine. */
  readonly code_digest: string;
  /** Of the candles. */
  readonly data_digest: string;
}

/** True when trials of both are comparable. Jobs of earlier versions did not record their candles. */
export function haveSameInputs(a: Partial<TrialInputs>, b: Partial<TrialInputs>): boolean {
  return a.code_digest === b.code_digest && haveSameCandles(a, b);
}

function haveSameCandles(a: Partial<TrialInputs>, b: Partial<TrialInputs>): boolean {
  return a.data_digest === undefined || b.data_digest === undefined || a.data_digest === b.data_digest;
}
