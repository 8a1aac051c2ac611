import type { BinnedMatrix } from '../bins.ts';
import type { ClassifierSettings } from '../settings.ts';
import type { HistogramBuilder, TreeColumns } from './histogram.ts';
import type { HistogramPool } from './histogram-pool.ts';
import type { RowOrder } from './partition.ts';
import type { SplitRules } from './split.ts';

/** What a tree is grown from. */
export interface Growth {
  readonly binned: BinnedMatrix;
  readonly columns: TreeColumns;
  /** The tree's rows with their packed gradients; growing changes the order. */
  readonly order: RowOrder;
  /** How many rows the order has. */
  readonly count: number;
  /** Whether position and row are the same at the start. */
  readonly isEveryRow: boolean;
  readonly rules: SplitRules;
  readonly settings: ClassifierSettings;
  readonly histograms: HistogramBuilder;
  readonly pool: HistogramPool;
  /** By feature: loss reduction, added to. */
  readonly gains: Float64Array;
}
