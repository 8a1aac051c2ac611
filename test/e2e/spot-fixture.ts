import { readFileSync } from 'node:fs';
import { strategyFilesFixture } from './strategy-files-fixture.ts';

/** The strategy of the section "Spot" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_rotation'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;
export const SPOT = { trading_mode: 'spot' };
export const PAIRS = ['BTC/USDT', 'ETH/USDT'];

/** Platform with that strategy. */
export const spotFixture = () => strategyFilesFixture({ 'my_rotation.ts': SOURCE });
