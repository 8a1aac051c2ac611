import type { BinnedMatrix } from '../bins.ts';
import type { ClassifierSettings } from '../settings.ts';
import type { HistogramBuilder } from './histogram.ts';

export interface BoostInput {
  readonly binned: BinnedMatrix;
  readonly labels: Uint8Array;
  /** By row. */
  readonly weights: Float64Array;
  readonly settings: ClassifierSettings;
  /** Rows 0..fitted-1 are fitted. */
  readonly fitted: number;
  /** Early stopping judges by the rows from here to the last; none when there are no such rows. */
  readonly validationFrom: number;
  readonly histograms: HistogramBuilder;
  readonly onRound?:
    | ((round: number, trainingLoss: number, validationLoss: number | null) => void)
    | undefined;
}
