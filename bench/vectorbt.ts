import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crossings, emas } from '#engine/indicators/index.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { SimulationMemory } from '#engine/simulator/state/memory.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { pythonWith } from '../test/support/python.ts';
import { startDriver } from '../test/support/python-driver.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, runShort } from './support/crossover.ts';
import { cpuTime, median, sumColumns } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const CANDLES = 1_000_000;
const RUNS = scaled(15);
/** The first calls of vectorbt compile its kernels, or load them; ours warm up as long. */
const WARM_UPS = scaled(8, 0);
const FAST = 20;
const SLOW = 50;

/** Always long or short, with fees: neither side has a stop or a ROI table. */
const SETTINGS: SimulationSettings = { ...CROSSOVER_SETTINGS, stoploss: -0.99, minimalRoi: {} };

/** Processor times, ms. */
interface Parts {
  readonly indicators: number;
  readonly signals: number;
  readonly simulation: number;
  readonly equity: number;
}

interface Reply extends Parts {
  readonly version: string;
  readonly orders: number;
}

const total = ({ indicators, signals, simulation, equity }: Parts) =>
  indicators + signals + simulation + equity;

const DRIVER = join(import.meta.dirname, 'support', 'vectorbt-driver.py');

/** One run of each side and of the bound, in turns. */
interface Turn {
  readonly ours: number;
  readonly bound: number;
  readonly theirs?: Reply;
}

const candles = randomCandles(1, CANDLES, '1m');

/** Columns of each run, as the runs of a search share them. */
const averages = [new Float64Array(CANDLES), new Float64Array(CANDLES)];
const crossed = { above: new Uint8Array(CANDLES), below: new Uint8Array(CANDLES) };
const memory = new SimulationMemory();

function crossover(): number {
  const [fast, slow] = emas(candles.close, [FAST, SLOW], averages);
  const { above: up, below: down } = crossings(fast, slow, crossed);
  const signals = { enterLong: up, exitShort: up, enterShort: down, exitLong: down };
  const pairs = [{ pair: 'BTC/USDT:USDT', candles, signals }];
  const { curve, outcomes } = simulate(pairs, SETTINGS, { memory });
  assert.ok(curve!.drawdown.ratio > 0);
  return outcomes.length;
}

async function measure(ask: ((request: object) => Promise<Reply>) | undefined, close: string) {
  const { fee, startingBalance: wallet } = SETTINGS;
  const request = { op: 'run', close, fast: FAST, slow: SLOW, fee, stake: 1000, wallet };
  const turns: Turn[] = [];
  let trades = 0;
  for (let run = -WARM_UPS; run < RUNS; run++) {
    const theirs = await ask?.(request);
    const bound = await cpuTime(() => sumColumns(candles));
    const ours = await cpuTime(() => {
      trades = crossover();
    });
    if (run >= 0) turns.push({ ours: ours.cpuMs, bound: bound.cpuMs, ...(theirs && { theirs }) });
  }
  return { turns, trades };
}

function measurements(turns: readonly Turn[], trades: number): Measurement[] {
  const ours = median(turns.map((turn) => turn.ours));
  const bound = median(turns.map((turn) => turn.bound));
  const own = `${ours.toFixed(1)} ms, bound ${bound.toFixed(2)} ms, ${trades} trades`;
  const share: Measurement = {
    label: 'EMA 20/50 with equity',
    value: bound / ours,
    unit: 'of bound',
    detail: own,
  };
  const theirs = turns.flatMap((turn) => turn.theirs ?? []);
  if (theirs.length === 0) return [share];
  const part = (name: keyof Parts) => median(theirs.map((reply) => reply[name])).toFixed(0);
  const { version, orders } = theirs[0]!;
  const detail =
    `${median(theirs.map(total)).toFixed(0)} ms: indicators ${part('indicators')}, signals ${part('signals')}, ` +
    `simulation ${part('simulation')}, equity ${part('equity')}; ${orders} orders`;
  const times = median(turns.map((turn) => total(turn.theirs!) / turn.ours));
  return [
    share,
    {
      label: 'EMA 20/50 with equity',
      value: times,
      unit: `times vectorbt ${version}`,
      target: { atLeast: 10 },
      detail,
    },
  ];
}

export default {
  name: 'vectorbt',
  description: `EMA ${FAST}/${SLOW} crossover over ${CANDLES} candles: indicators, signals, simulation, equity and drawdown, warm, compared with vectorbt in turns; processor time`,
  async run() {
    const found = await pythonWith('bench/support/vectorbt-requirements.txt');
    if ('missing' in found) console.log(`vectorbt: no comparison: ${found.missing}`);
    const folder = mkdtempSync(join(tmpdir(), 'vectorbt-'));
    const close = join(folder, 'close.f64');
    writeFileSync(close, new Uint8Array(candles.close.buffer));
    const driver = 'python' in found ? startDriver<Reply>(found.python, DRIVER) : undefined;
    try {
      runShort((input) => simulate(input, SETTINGS));
      const { turns, trades } = await measure(driver?.ask, close);
      return measurements(turns, trades);
    } finally {
      driver?.stop();
      rmSync(folder, { recursive: true });
    }
  },
} satisfies Bench;
