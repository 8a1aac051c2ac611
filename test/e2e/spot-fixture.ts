import { readFileSync } from 'node:fs';
import { strategyFilesFixture } from './strategy-files-fixture.ts';

/** The strategy of the section "Spot" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_rotation'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;
export const SPOT = { trading_mode: 'spot' };
export const PAIRS = ['BTC/USDT', 'ETH/USDT'];

/** Reads Bitcoin's perpetual, in spot its spot pair, and enters on rows where it has a value. Its leverage is for perpetuals. */
const READER = `
export default {
  name: 'reader', description: 'Reads another pair.', timeframe: '1h', pairs: ['ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, stoploss: -0.5,
  informative: [{ pair: 'BTC/USDT:USDT', timeframe: '4h' }],
  callbacks: { leverage: () => 3 },
  indicators: ({ close }) => ({ close }),
  signals({ timestamp }, columns, params, informative) {
    const btc = informative['BTC/USDT:USDT 4h'].close;
    return {
      enterLong: Uint8Array.from(timestamp, (_, row) => Number(btc[row] > 0 && row % 8 === 0)),
      exitLong: Uint8Array.from(timestamp, (_, row) => Number(row % 8 === 4)),
    };
  },
};
`;

/** Platform with these strategies. */
export const spotFixture = () => strategyFilesFixture({ 'my_rotation.ts': SOURCE, 'reader.ts': READER });
