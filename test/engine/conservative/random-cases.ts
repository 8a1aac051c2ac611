import type { Action, Prices, Rules } from './oracle.ts';

export interface Case {
  readonly candles: readonly Prices[];
  readonly actions: readonly Action[];
  /** Price of the entry, a multiple of the open of candle 1. */
  readonly entry: number;
  readonly rules: Rules;
}

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = (seed * 0x9e37_79b9) >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Same seed, same case. Prices are drawn from a continuum: only a gap or an equal open makes two of them equal. */
export function randomCase(seed: number): Case {
  const random = randomOf(seed);
  const of = <T>(...values: readonly T[]) => values[Math.floor(random() * values.length)]!;
  const between = (from: number, to: number) => from + random() * (to - from);
  const maybe = <T>(probability: number, value: () => T) => (random() < probability ? value() : undefined);
  const size = of(0.005, 0.02, 0.06);
  let before = between(50, 150);
  const candles = Array.from({ length: 3 + Math.floor(random() * 12) }, (): Prices => {
    const open = before * (1 + (maybe(0.3, () => between(-1.5, 1.5) * size) ?? 0));
    const close = open * (1 + between(-1, 1) * size);
    before = close;
    const wick = () => (random() < 0.2 ? 0 : between(0, size));
    return [open, Math.max(open, close) * (1 + wick()), Math.min(open, close) * (1 - wick()), close];
  });
  const side = of('long' as const, 'short' as const);
  const up = side === 'long' ? 1 : -1;
  const actions = candles.map((): Action => {
    // One order at a time: the next one would replace it.
    const adjusts = random() < 0.25;
    const adds = random() < 0.5;
    const share = between(0.2, 0.8);
    const away = of(0, 0, between(-1, 2)) * size;
    return {
      stop: maybe(0.15, () => between(0.5, 3) * size),
      exit: adjusts ? undefined : maybe(0.1, () => 1 + up * of(0, between(-1, 2)) * size),
      add: adjusts && adds ? { share, at: 1 - up * away } : undefined,
      take: adjusts && !adds ? { share, at: 1 + up * away } : undefined,
    };
  });
  const hasActions = random() < 0.6;
  return {
    candles,
    actions: hasActions ? actions : [],
    entry: 1 - up * of(0, 0, between(-0.5, 1.5)) * size,
    rules: {
      side,
      leverage: of(1, 1, 3, 10, 30),
      fee: of(0, 0.0005, 0.002),
      slippage: of(0, 0, 0.0005),
      stoploss: between(0.3, 5) * size,
      trailing: maybe(0.5, () => ({
        positive: of(0, between(0.2, 3) * size),
        offset: of(0, between(0, 2) * size),
        only: random() < 0.3,
      })),
      target: maybe(0.6, () => between(0.1, 3) * size),
      maintenance: 0.005,
      buffer: of(0, 0.05),
    },
  };
}
