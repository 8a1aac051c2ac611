import fc from 'fast-check';
import type { Instrument } from '#engine/instrument.ts';
import type { FundingEvents, PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import { candlesOf, HOUR, pairOf, type Row, START, settingsOf } from './market.ts';

/** Candles on a coarse price grid, so that prices equal stops and targets exactly; with gaps and dojis. */
function rows(length: { minLength: number; maxLength: number }): fc.Arbitrary<Row[]> {
  const gap = fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -4, max: 4 }) },
  );
  const wick = fc.integer({ min: 0, max: 4 });
  const candle = fc.tuple(gap, fc.integer({ min: -5, max: 5 }), wick, wick);
  // At 400 a trade lasts many candles; at 40 it often opens and closes in one.
  return fc
    .tuple(fc.constantFrom(40, 100, 400), fc.array(candle, { ...length, size: 'max' }))
    .map(([start, candles]) => {
      let price: number = start;
      return candles.map(([gapTicks, bodyTicks, upTicks, downTicks]): Row => {
        const open = Math.max(10, price + gapTicks / 2);
        const close = Math.max(10, open + bodyTicks / 2);
        price = close;
        return [
          open,
          Math.max(open, close) + upTicks / 2,
          Math.max(5, Math.min(open, close) - downTicks / 2),
          close,
        ];
      });
    });
}

/** Rows at which a signal is set: sparse, dense or never. */
function signalRows(length: number): fc.Arbitrary<number[]> {
  const row = fc.nat({ max: Math.max(0, length - 1) });
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant<number[]>([]) },
    { weight: 4, arbitrary: fc.uniqueArray(row, { maxLength: 2 + Math.floor(length / 5), size: 'max' }) },
    { weight: 1, arbitrary: fc.uniqueArray(row, { minLength: Math.floor(length / 2), maxLength: length }) },
  );
}

function fundingEvents(length: number): fc.Arbitrary<FundingEvents> {
  const event = fc.record({
    rate: fc.integer({ min: -40, max: 40 }),
    mark: fc.integer({ min: 90, max: 110 }),
  });
  return fc.array(event, { maxLength: length }).map((events) => ({
    timestamp: Float64Array.from(events, (_, index) => START + index * 1.5 * HOUR),
    rate: Float64Array.from(events, ({ rate }) => rate / 10_000),
    markPrice: Float64Array.from(events, ({ mark }) => mark),
  }));
}

/** One pair with signals of every kind, sometimes with funding. */
export function pair(name: string, length = { minLength: 2, maxLength: 70 }): fc.Arbitrary<PairInput> {
  return fc.tuple(rows(length), fc.nat({ max: 10 })).chain(([candles, startsAt]) => {
    const signal = signalRows(candles.length);
    return fc
      .record({ enterLong: signal, exitLong: signal, enterShort: signal, exitShort: signal })
      .chain((signals) =>
        fc
          .option(fundingEvents(candles.length), { nil: undefined })
          .map((funding) =>
            pairOf({ pair: name, rows: candles, startsAt, ...signals, ...(funding && { funding }) }),
          ),
      );
  });
}

/** Lots, limits and ticks that are coarser than, equal to or finer than those of the candles. */
const instrument: fc.Arbitrary<Instrument | undefined> = fc.option(
  fc.record({
    amountStep: fc.constantFrom(null, 0.001, 0.1),
    minAmount: fc.constantFrom(null, 0.1),
    maxAmount: fc.constantFrom(null, 20),
    minCost: fc.constantFrom(null, 5, 95),
    maxCost: fc.constantFrom(null, 500),
    contractSize: fc.constantFrom(1, 0.5),
    priceTick: fc.constantFrom(null, 0.5, 1),
  }),
  { nil: undefined },
);

/** {@link pairs}, each with or without an instrument. */
export function pairsOnGrids(count: number): fc.Arbitrary<PairInput[]> {
  return fc
    .tuple(pairs(count), fc.array(instrument, { minLength: count, maxLength: count }))
    .map(([inputs, instruments]) =>
      inputs.map((input, index) => {
        const own = instruments[index];
        return own ? { ...input, instrument: own } : input;
      }),
    );
}

/** Up to `count` pairs that start and end at different times. */
export function pairs(count: number): fc.Arbitrary<PairInput[]> {
  return fc
    .integer({ min: 1, max: count })
    .chain((size) => fc.tuple(...Array.from({ length: size }, (_, index) => pair(`P${index}`))));
}

/** Half-hour candles of the pair's candles: down-up or up-down, so that detail decides the order of prices. */
export function withDetail(input: PairInput): PairInput {
  const { open, high, low, close, timestamp } = input.candles;
  const halves: Row[] = [];
  for (let row = 0; row < timestamp.length; row++) {
    const [o, h, l, c] = [open[row]!, high[row]!, low[row]!, close[row]!];
    const turn = (h + l) / 2;
    const [first, second] = row % 2 === 0 ? [l, h] : [h, l];
    halves.push([o, Math.max(o, first, turn), Math.min(o, first, turn), turn]);
    halves.push([turn, Math.max(turn, second, c), Math.min(turn, second, c), c]);
  }
  return { ...input, detail: candlesOf(halves, HOUR / 2, (timestamp[0]! - START) / (HOUR / 2)) };
}

const ratio = (values: readonly number[]) => fc.constantFrom(...values);

/** Settings of every kind without callbacks. The wallet is large. */
export const settings: fc.Arbitrary<SimulationSettings> = fc
  .record({
    fee: ratio([0, 0.0005, 0.01]),
    slippage: ratio([0, 0.001]),
    leverage: ratio([1, 3, 10]),
    canShort: fc.boolean(),
    stoploss: ratio([-0.02, -0.1, -0.3, -0.99]),
    trailing: fc.option(
      fc.record(
        {
          positive: ratio([0.01, 0.03]),
          offset: ratio([0, 0.02, 0.05]),
          only_offset_is_reached: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
    minimalRoi: fc.option(
      fc.dictionary(fc.constantFrom('0', '60', '90', '180', '600'), ratio([-1, 0, 0.01, 0.03, 0.1]), {
        maxKeys: 4,
      }),
      { nil: undefined },
    ),
    useExitSignal: fc.boolean(),
    exitProfitOnly: fc.boolean(),
    exitProfitOffset: ratio([0, 0.02]),
    ignoreRoiIfEntrySignal: fc.boolean(),
    fillModel: fc.constantFrom('freqtrade', 'conservative'),
    maxOpenTrades: fc.constantFrom(1, 2, 5),
    stake: fc.constantFrom({ kind: 'fixed', amount: 100 } as const, { kind: 'unlimited' } as const),
  })
  .map(({ trailing, minimalRoi, ...rest }) =>
    settingsOf({
      ...rest,
      startingBalance: 100_000,
      ...(trailing && { trailing }),
      ...(minimalRoi && { minimalRoi }),
    }),
  );
