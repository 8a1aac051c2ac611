import { simulate } from '#engine/simulator/simulate.ts';
import type { Bench } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, crossoverPair, runShort } from './support/crossover.ts';
import { boundMeasurement, compareWithBound } from './support/measure.ts';

export default {
  name: 'simulate-callbacks',
  description:
    'As simulate-equity without the drawdown, with a cheap strategy callback on every candle of a trade',
  async run() {
    const candles = randomCandles(1, 1_000_000, '1m');
    const pairs = [crossoverPair('BTC/USDT:USDT', candles)];
    let calls = 0;
    const callbacks = {
      customExit: (_context: unknown, _trade: unknown, _price: number, profit: number) => {
        calls++;
        return profit > 0.025 ? 'take' : null;
      },
    };
    const settings = { ...CROSSOVER_SETTINGS, callbacks };
    runShort((input) => simulate(input, settings));
    calls = 0;
    simulate(pairs, settings);
    const label = `${calls} calls`;
    const trades = await compareWithBound(candles, () => simulate(pairs, settings, { equity: false }));
    const curve = await compareWithBound(candles, () => simulate(pairs, settings));
    return [
      boundMeasurement(label, trades, 0.16),
      boundMeasurement(`${label}, with equity curve`, curve, 0.16),
    ];
  },
} satisfies Bench;
