import { createRandom } from '#engine/random.ts';
import { probabilityOfOverfitting } from '#engine/search/overfitting.ts';
import type { Bench } from './support/bench.ts';
import { medianTime } from './support/measure.ts';

const TRIALS = 200;
const DAYS = 736;

export default {
  name: 'pbo',
  description: `probability of backtest overfitting of ${TRIALS} trials x ${DAYS} days: 12,870 choices of 8 of 16 blocks`,
  async run() {
    const random = createRandom(1);
    const returns = Array.from({ length: TRIALS }, () =>
      Float64Array.from({ length: DAYS }, () => random() - 0.5),
    );
    const ms = await medianTime(() => probabilityOfOverfitting(returns));
    const { splits, probability } = probabilityOfOverfitting(returns)!;
    const detail = `${splits} splits, trials without skill: ${probability.toFixed(3)}`;
    return [{ label: 'probabilityOfOverfitting()', value: ms, unit: 'ms', target: { atMost: 250 }, detail }];
  },
} satisfies Bench;
