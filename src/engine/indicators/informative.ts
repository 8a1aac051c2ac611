/**
 * A column of a higher timeframe, spread over base candles without looking ahead: base row `i` holds the value of the
 * newest informative candle that has closed when base candle `i` closes, and keeps it until the next one closes.
 * So the value of the 1h candle that opens at 14:00 first appears on the 5m candle that opens at 14:55.
 * `NaN` before the first informative candle has closed. Equal timeframes are not shifted.
 *
 * @param baseTimestamps open times of the base candles, ms, ascending
 * @param baseMs length of a base candle, ms
 * @param informativeTimestamps open times of the informative candles, ms, ascending
 * @param informativeMs length of an informative candle, ms: at least `baseMs`
 * @param column one value per informative candle
 * @throws RangeError when the informative timeframe is shorter than the base, or `column` has another length
 */
export function alignInformative(
  baseTimestamps: Float64Array,
  baseMs: number,
  informativeTimestamps: Float64Array,
  informativeMs: number,
  column: Float64Array,
): Float64Array {
  if (informativeMs < baseMs) {
    throw new RangeError(
      `An informative timeframe of ${informativeMs} ms is shorter than the base of ${baseMs} ms.`,
    );
  }
  const count = informativeTimestamps.length;
  if (column.length !== count) {
    throw new RangeError(`The informative column has ${column.length} values for ${count} candles.`);
  }
  const shift = informativeMs - baseMs;
  const out = new Float64Array(baseTimestamps.length);
  let next = 0;
  let value = Number.NaN;
  for (let row = 0, { length } = out; row < length; row++) {
    while (next < count && informativeTimestamps[next]! + shift <= baseTimestamps[row]!) {
      value = column[next]!;
      next++;
    }
    out[row] = value;
  }
  return out;
}
