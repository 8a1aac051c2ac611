import { falsePositives } from '../test/support/null-trials.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { scaled } from './support/quick.ts';

const SELECTIONS = scaled(5_000, 50);

/** Selections of the best of trials without skill whose deflated Sharpe ratio is above 0.95. */
function measure(): Measurement[] {
  return [30, 90, 365].flatMap((days) =>
    [1, 2, 5, 20, 100].flatMap((trials) =>
      (trials === 1 ? [0] : [0, 0.5, 0.9, 0.99]).map((correlation): Measurement => {
        const share = falsePositives({ trials, days, correlation, runs: SELECTIONS, seed: 1 });
        return {
          label: `${trials} trials, correlation ${correlation}, ${days} days`,
          value: 100 * share,
          unit: '%',
          // Two standard errors above 5 %.
          target: { atMost: 5.6 },
        };
      }),
    ),
  );
}

export default {
  name: 'deflated-null',
  description: `Best of trials without skill: how many of ${SELECTIONS} have a deflated Sharpe ratio above 0.95`,
  run: measure,
} satisfies Bench;
