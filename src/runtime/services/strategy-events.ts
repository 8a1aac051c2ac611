import type { Ownership, StoredSharing } from '#domain/access.ts';
import { getHyperopt, unknownHyperopt } from '#domain/hyperopt/get-hyperopt.ts';
import type { StudyStore } from '#domain/hyperopt/study-ports.ts';
import type { WatchHyperoptDeps } from '#domain/hyperopt/watch-hyperopt.ts';
import type { StreamHandlers } from '../handler.ts';
import type { Log } from '../log.ts';
import { watchHandler } from './hyperopt-events.ts';
import { watching } from './hyperopt-use-cases.ts';

interface StrategyEventsDeps extends Pick<WatchHyperoptDeps, 'ledger' | 'clock'> {
  readonly studies: Pick<StudyStore, 'get'> & { readonly sharing: StoredSharing };
}

/** What a host of the strategy service's streams alone needs: it reads hyperopt jobs and changes nothing. */
export function strategyEvents(
  deps: StrategyEventsDeps,
  log: Log,
): { readonly handlers: StreamHandlers<'strategy'>; readonly ownership: Pick<Ownership, 'hyperopt'> } {
  return {
    handlers: {
      watchHyperopt: watchHandler({
        getHyperopt: (jobId) => getHyperopt(deps, jobId),
        watchHyperopt: watching(deps, log),
      }),
    },
    ownership: { hyperopt: { sharing: deps.studies.sharing, unknown: unknownHyperopt } },
  };
}
