import type { Candles } from '../candles.ts';
import { type MlLabel, UNKNOWN_LABEL } from '../strategy.ts';

/**
 * Label of a rising price: 1 where the close `horizon` candles later is higher by more than `minRise`, else 0. Unknown on
 * the last `horizon` rows.
 *
 * @param horizon number of candles, from 1
 * @param minRise ratio of the price, such as the fees of a trade
 */
export function riseLabel({ close }: Pick<Candles, 'close'>, horizon: number, minRise = 0): MlLabel {
  const labels = new Uint8Array(close.length).fill(UNKNOWN_LABEL);
  for (let row = 0; row + horizon < close.length; row++) {
    labels[row] = close[row + horizon]! > close[row]! * (1 + minRise) ? 1 : 0;
  }
  return { labels, horizon };
}
