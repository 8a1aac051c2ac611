import type { Job } from './live.ts';
import type { Objective } from './objective.ts';
import type { DetailSearch } from './search.ts';
import type { Standing, TrialRow } from './trials.ts';

/** What the tabs of a job show. */
export interface JobView {
  readonly job: Job;
  /** Finished trials in the order of their ends. */
  readonly rows: readonly TrialRow[];
  /** True until the first trials have come. */
  readonly isLoading: boolean;
  readonly standing: Standing;
  readonly objective: Objective;
  readonly search: DetailSearch;
  /** Changes a part of the URL; `undefined` removes it. */
  readonly change: (next: Partial<DetailSearch>) => void;
}
