import { suggest } from '#engine/search/sampler.ts';
import type { Dimension, SearchSpace } from '#engine/search/space.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { cpuTime, median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { bestValues, runStudy } from './support/studies.ts';
import { TEST_FUNCTIONS, type TestFunction } from './support/test-functions.ts';

/** With 200 seeds the standard error of the difference is a tenth of the unit for Rastrigin. */
const SEEDS = scaled(1000, 4);
/** Seeds of studies with a lag, which have no target. */
const LAGGED_SEEDS = scaled(200, 4);
const TRIALS = 100;
const FINISHED = scaled(1000, 100);
/** Suggestions per measurement, because the clock of processor time is coarse. */
const BATCH = 20;

const float = (name: string): Dimension => ({ kind: 'float', name, min: 0, max: 1 });

const FLOATS: SearchSpace = ['a', 'b', 'c', 'd', 'e'].map(float);

/** Dimensions of a boosted model: small and large integers, rates, and one choice. */
const MODEL: SearchSpace = [
  { kind: 'int', name: 'trees', min: 50, max: 1000 },
  { kind: 'int', name: 'depth', min: 2, max: 12 },
  { kind: 'int', name: 'leaves', min: 4, max: 256, log: true },
  { kind: 'float', name: 'rate', min: 0.001, max: 0.3, log: true },
  float('rows'),
  { kind: 'float', name: 'columns', min: 0.1, max: 1, step: 0.05 },
  { kind: 'float', name: 'l2', min: 1e-8, max: 10, log: true },
  { kind: 'categorical', name: 'growth', choices: ['depthwise', 'leafwise', 'symmetric'] },
];

async function suggestionTime(label: string, space: SearchSpace): Promise<Measurement> {
  const minimize = (point: object) => Object.values(point).reduce((total, v) => total + Number(v) || 0, 0);
  const past = runStudy({ space, minimize }, { seed: 1, trials: FINISHED, sampler: 'random' });
  let number = FINISHED;
  const batch = () => {
    for (let i = 0; i < BATCH; i++) {
      suggest(space, past, { seed: 1, number: number++, direction: 'minimize', sampler: 'tpe' });
    }
  };
  batch();
  const times: number[] = [];
  for (let i = 0; i < 9; i++) times.push((await cpuTime(batch)).cpuMs / BATCH);
  return { label, value: median(times), unit: 'ms', target: { atMost: 3 }, detail: 'processor time' };
}

/** Median of an even number of sorted values, the mean of the two middle ones, with its standard error by order statistics. */
function medianOfSorted(sorted: readonly number[]): { median: number; error: number } {
  const half = sorted.length >> 1;
  const deviation = Math.round(Math.sqrt(sorted.length) / 2);
  return {
    median: (sorted[half - 1]! + sorted[half]!) / 2,
    error: (sorted[half - 1 + deviation]! - sorted[half - deviation]!) / 2,
  };
}

function acceptance(subject: TestFunction): Measurement {
  const { random, reference, referenceError } = subject;
  const medianOf = (seeds: number, sampler: 'tpe' | 'random', lag?: number) =>
    medianOfSorted(bestValues(subject, seeds, { trials: TRIALS, sampler, ...(lag && { lag }) }));
  const percent = (value: number) => (100 * value) / (random - reference);
  const sequential = medianOf(SEEDS, 'tpe', 1);
  const lagged = medianOf(LAGGED_SEEDS, 'tpe');
  const error = percent(Math.hypot(sequential.error, referenceError));
  const detail = [
    `standard error ${error.toFixed(1)} %`,
    `random ${medianOf(LAGGED_SEEDS, 'random').median.toPrecision(3)} (Optuna ${random})`,
    `ours ${sequential.median.toPrecision(4)}`,
    `TPE 5.0 ${reference}`,
    `with the lag of ${TRIALS / 10} ${lagged.median.toPrecision(3)}: ${percent(lagged.median - reference).toFixed(1)} %`,
  ].join(', ');
  return {
    label: `${subject.name}: behind TPE 5.0`,
    value: percent(sequential.median - reference),
    unit: '%',
    target: { atMost: 2 },
    detail,
  };
}

export default {
  name: 'tpe',
  description: `TPE after ${TRIALS} sequential trials, median of ${SEEDS} seeds: gap to Optuna 5.0 in % of the distance from random search to Optuna; time of a suggestion after ${FINISHED} trials`,
  async run() {
    return [
      ...TEST_FUNCTIONS.map(acceptance),
      await suggestionTime('a suggestion, 5 floats', FLOATS),
      await suggestionTime('a suggestion, 8 dimensions of a model', MODEL),
    ];
  },
} satisfies Bench;
