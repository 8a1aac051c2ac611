import type { Signals } from '#engine/strategy.ts';

/** Columns of a file of signals, in the order of its rows. */
export interface SignalTable {
  readonly rows: number;
  /** Unix ms. */
  readonly timestamp: Float64Array;
  /** Index into `pairs`. */
  readonly pair: Uint16Array;
  readonly pairs: readonly string[];
  /** Columns of the file; those that it lacks are absent. */
  readonly signals: Signals;
  readonly stakeRatio?: Float64Array;
}

/** Reads the file of a run. Undefined: it was deleted. Throws CodedError VAL005 for a file that is not valid, DATA005. */
export type ReadSignals = (signalsId: string, sha256: string) => Promise<SignalTable | undefined>;
