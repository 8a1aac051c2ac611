import { availableParallelism } from 'node:os';
import { type Classifier, trainClassifier } from '#engine/ml/classifier.ts';
import { binFeatures } from '#engine/ml/features.ts';
import { DEFAULT_CLASSIFIER_SETTINGS } from '../test/engine/ml/default-settings.ts';
import { type Labeled, nonlinear } from '../test/engine/ml/synthetic.ts';
import { pythonWithXgboost, startXgboost, type Xgboost } from '../test/engine/ml/xgboost.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { cpuTime, median } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const RUNS = scaled(9);
const WARM_UPS = scaled(2, 0);
const MAX_BINS = 64;

/** XGBoost settings that are closest to each kind. XGBoost has no symmetric trees. */
const POLICIES = {
  depthwise_gbdt: {},
  leafwise_gbdt: { grow_policy: 'lossguide', max_leaves: 31 },
  symmetric_gbdt: {},
} as const;

type Kind = keyof typeof POLICIES;

/** Processor times of one turn, ms. `their*` are of XGBoost; NaN when it is not installed. */
interface Turn {
  readonly bin: number;
  readonly train: number;
  readonly predict: number;
  readonly theirTrain: number;
  readonly theirPredict: number;
}

interface Job {
  readonly kind: Kind;
  readonly data: Labeled;
  readonly trees: number;
}

async function turn({ kind, data, trees }: Job, fresh: Labeled, xgboost: Xgboost | undefined): Promise<Turn> {
  const settings = { ...DEFAULT_CLASSIFIER_SETTINGS, kind, n_estimators: trees, max_bins: MAX_BINS };
  let features = binFeatures(data.matrix, 2);
  let model: Classifier | undefined;
  const bin = await cpuTime(() => {
    features = binFeatures(data.matrix, MAX_BINS);
  });
  const train = await cpuTime(() => {
    model = trainClassifier({ features, labels: data.labels }, settings);
  });
  const predict = await cpuTime(() => model!.predict(fresh.matrix));
  const params = { max_depth: 6, eta: 0.1, max_bin: MAX_BINS, ...POLICIES[kind] };
  return {
    bin: bin.cpuMs,
    train: train.cpuMs,
    predict: predict.cpuMs,
    theirTrain: (await xgboost?.train(data, trees, params)) ?? Number.NaN,
    theirPredict: (await xgboost?.predict(fresh))?.cpuMs ?? Number.NaN,
  };
}

async function measure(job: Job, fresh: Labeled, xgboost: Xgboost | undefined): Promise<Measurement[]> {
  const turns: Turn[] = [];
  for (let run = -WARM_UPS; run < RUNS; run++) {
    const times = await turn(job, fresh, xgboost);
    if (run >= 0) turns.push(times);
  }
  const of = (pick: (times: Turn) => number) => median(turns.map(pick));
  const name = `${job.kind}, ${job.data.matrix.rows} x 30, ${job.trees} trees`;
  const [bin, train, predict] = [of((t) => t.bin), of((t) => t.train), of((t) => t.predict)];
  const detail = `bins ${bin.toFixed(0)} ms, trees ${train.toFixed(0)} ms, XGBoost ${of((t) => t.theirTrain).toFixed(0)} ms`;
  return [
    measurement(xgboost, {
      label: `${name}: train`,
      ratio: of((t) => (t.bin + t.train) / t.theirTrain),
      ms: bin + train,
      detail,
    }),
    measurement(xgboost, {
      label: `${name}: predict ${fresh.matrix.rows}`,
      ratio: of((t) => t.predict / t.theirPredict),
      ms: predict,
      detail: `${predict.toFixed(1)} ms, XGBoost ${of((t) => t.theirPredict).toFixed(1)} ms`,
    }),
  ];
}

/** One phase: its time, and that as a ratio to XGBoost's. */
interface Phase {
  readonly label: string;
  readonly ratio: number;
  readonly ms: number;
  readonly detail: string;
}

/** Ratio to XGBoost, or milliseconds when it is not installed. */
function measurement(xgboost: Xgboost | undefined, { label, ratio, ms, detail }: Phase): Measurement {
  if (!xgboost) return { label, value: ms, unit: 'ms' };
  return { label, value: ratio, unit: `x XGBoost ${xgboost.version}`, target: { atMost: 0.7 }, detail };
}

const bench: Bench = {
  name: 'gbdt',
  description: `gradient boosting with ${MAX_BINS} bins compared with XGBoost hist on one thread with as many bins: processor time, in turns (${availableParallelism()} cores)`,
  async run() {
    const found = await pythonWithXgboost();
    if ('missing' in found) console.log(`gbdt: no comparison with XGBoost: ${found.missing}`);
    const xgboost = 'python' in found ? await startXgboost(found.python) : undefined;
    const large = nonlinear(1, 20_000);
    const month = nonlinear(2, 8640);
    const fresh = nonlinear(3, 10_000);
    const measurements: Measurement[] = [];
    for (const kind of Object.keys(POLICIES) as Kind[]) {
      measurements.push(...(await measure({ kind, data: large, trees: 200 }, fresh, xgboost)));
      measurements.push(...(await measure({ kind, data: month, trees: 100 }, fresh, xgboost)));
    }
    xgboost?.stop();
    return measurements;
  },
};

export default bench;
