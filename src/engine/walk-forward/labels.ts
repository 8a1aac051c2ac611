import type { Candles } from '#engine/candles.ts';
import { type MlLabel, UNKNOWN_LABEL } from '#engine/strategy.ts';

/**
 * 1 where the close `horizon` candles later is above the present one by more than `least`, 0 where it is not, unknown on the
 * last `horizon` rows.
 *
 * @param horizon candles, from 1
 * @param least as a ratio of the price, such as the fees of a trade
 */
export function riseLabel({ close }: Pick<Candles, 'close'>, horizon: number, least = 0): MlLabel {
  const labels = new Uint8Array(close.length).fill(UNKNOWN_LABEL);
  for (let row = 0; row + horizon < close.length; row++) {
    labels[row] = close[row + horizon]! > close[row]! * (1 + least) ? 1 : 0;
  }
  return { labels, horizon };
}
