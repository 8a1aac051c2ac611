import type { EndedTrial, StoredHyperoptJob, TrialCounts } from '#contract/hyperopt.ts';
import { lagOf } from '#engine/search/trials.ts';
import type { TrialLedger } from './hyperopt-ports.ts';

/** A trial that has ended, without what it measured in its windows. */
export interface TrialEnd
  extends Pick<EndedTrial, 'number' | 'state' | 'params' | 'sequence' | 'best_value'> {
  /** Null unless complete. */
  readonly value: number | null;
}

/** Trials of one read: a hyperopt job may have 10,000, each with the values of its windows. */
const PAGE = 200;

/**
 * The trials of a hyperopt job in the order in which they ended, each once. The ledger has them by number; as at most a lag of
 * them run at once, what ended next is never further than that from where all have ended.
 */
export class FinishedTrialReader {
  readonly #ledger: Pick<TrialLedger, 'read'>;
  readonly #jobId: string;
  /** The next to hand out. */
  #sequence: number;
  /** Every trial of a lower number was handed out or is in `#early`. */
  #from: number;
  /** Read before one that ended earlier. */
  readonly #early = new Map<number, TrialEnd>();

  /** @param after as many were handed out before: by another that was like this one */
  constructor(ledger: Pick<TrialLedger, 'read'>, { job_id, config }: StoredHyperoptJob, after: number) {
    this.#ledger = ledger;
    this.#jobId = job_id;
    this.#sequence = after + 1;
    this.#from = Math.max(0, after + 1 - lagOf(config.n_trials));
  }

  /** Those not yet handed out of the first `ended` ones; reads nothing when there are none. */
  async *upTo(ended: number): AsyncGenerator<TrialEnd> {
    let from = this.#from;
    let running: number | undefined;
    while (this.#sequence <= ended) {
      const page = await this.#ledger.read(this.#jobId, from, PAGE);
      for (const trial of page) {
        from = trial.number + 1;
        if (trial.state === 'running') running ??= trial.number;
        else if (trial.sequence >= this.#sequence) this.#early.set(trial.sequence, endOf(trial));
      }
      this.#from = running ?? from;
      yield* this.#inOrder();
      if (page.length < PAGE) return;
    }
  }

  *#inOrder(): Generator<TrialEnd> {
    for (;;) {
      const next = this.#early.get(this.#sequence);
      if (!next) return;
      this.#early.delete(this.#sequence++);
      yield next;
    }
  }
}

function endOf(trial: EndedTrial): TrialEnd {
  const { number, state, params, sequence, best_value } = trial;
  return {
    number,
    state,
    params,
    sequence,
    best_value,
    value: trial.state === 'complete' ? trial.value : null,
  };
}

/** How many trials have ended: the sequence of the last one. */
export function finishedTrialCount({ complete, pruned, failed }: TrialCounts): number {
  return complete + pruned + failed;
}
