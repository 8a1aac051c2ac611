import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { givenSignals } from '#engine/strategies/given-signals.ts';
import { UsageError } from '../options.ts';
import { strategiesFolder } from './strategy-file.ts';

/** Writes a strategy that runs and is certified, and prints the next steps. */
export async function newStrategy(name: string, json = false): Promise<void> {
  if ([...builtInStrategies, givenSignals].some((each) => each.name === name)) {
    throw new UsageError(`A built-in strategy has the name ${name}. Choose another one.`);
  }
  const folder = strategiesFolder();
  const file = join(folder, `${name}.ts`);
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, sourceOf(name), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new UsageError(`${file} exists. Choose another name.`, { cause: error });
  }
  if (json) return console.log(JSON.stringify({ strategy: name, file }));
  const inside = relative(process.cwd(), file);
  console.log(`Made ${inside.startsWith('..') ? file : inside}. Next:`);
  console.log(`  ${TOUCHSTONE} dev ${name}         run it after each save`);
  console.log(`  ${TOUCHSTONE} check ${name}       search it for look-ahead bias`);
  console.log(`  ${TOUCHSTONE} backtest ${name}    the whole report`);
}

/** Editors find the types of these imports: a strategy folder has the package, a clone the engine. */
const IMPORTS = import.meta.filename.endsWith('.ts')
  ? `import { allOf, crossedAbove, crossedBelow, ema, rsi, where } from '#engine/indicators/index.ts';
import { defineStrategy } from '#engine/strategy.ts';`
  : `import { allOf, crossedAbove, crossedBelow, defineStrategy, ema, rsi, where } from 'touchstone/engine';`;

const sourceOf = (name: string) => `${IMPORTS}

/** Long while the fast average is above the slow one, entered unless the market is overbought. */
export default defineStrategy({
  name: '${name}',
  description: 'Long while the fast average is above the slow one.',
  timeframe: '1h',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  stakeAmount: 100,
  parameters: {
    fast: { kind: 'integer', default: 20, min: 5, max: 45, description: 'Fast average, candles' },
    slow: { kind: 'integer', default: 50, min: 50, max: 200, description: 'Slow average, candles' },
    overbought: { kind: 'number', default: 75, min: 50, max: 100, description: 'RSI from which no trade is entered' },
  },
  // Candles that the indicators need before the first signal.
  startupCandles: ({ slow }) => 5 * slow,
  indicators: ({ close }, { fast, slow }) => ({ fast: ema(close, fast), slow: ema(close, slow), rsi: rsi(close, 14) }),
  // A signal of a closed candle is filled at the open of the next one.
  signals: (_candles, { fast, slow, rsi }, { overbought }) => ({
    enterLong: allOf(
      crossedAbove(fast, slow),
      where(rsi.length, (row) => rsi[row]! < overbought),
    ),
    exitLong: crossedBelow(fast, slow),
  }),
  stoploss: -0.08,
});
`;
