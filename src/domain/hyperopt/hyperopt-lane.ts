import type { MaxRunning } from '../queue/lanes.ts';
import type { Lane } from '../queue/queue-ports.ts';
import type { HyperoptExecutions, HyperoptStore } from './hyperopt-ports.ts';

export interface HyperoptLaneDeps {
  readonly hyperoptJobs: Pick<HyperoptStore, 'get'>;
  readonly hyperoptExecutions: HyperoptExecutions;
  readonly maxRunning: MaxRunning;
}

/** The lane of hyperopt jobs. */
export function hyperoptLane({ hyperoptJobs, hyperoptExecutions, maxRunning }: HyperoptLaneDeps): Lane {
  return {
    name: 'hyperopt',
    maxRunning: maxRunning.hyperopt,
    jobs: hyperoptJobs,
    executions: hyperoptExecutions,
  };
}
