import type { Step } from '../rules/decimals.ts';
import { bestPrice, type Direction } from '../rules/prices.ts';
import { stopAt } from '../rules/stops.ts';

/** What is recorded of a position. */
interface Position {
  readonly market: { readonly input: { readonly pair: string } };
  readonly order: { readonly kind: string };
  readonly openedAt: number;
  readonly direction: Direction;
  readonly leverage: number;
  readonly tick: Step | null;
  readonly entryPrice: number;
  readonly stop: number;
  readonly stopMoved: boolean;
  readonly stopDistance: number;
  readonly liquidation: number;
  readonly openValue: number;
  readonly amount: number;
  readonly funding: number;
}

interface Candle {
  readonly time: number;
  readonly high: number;
  readonly low: number;
}

/** Levels of a trade from a time on, until the next step. */
export interface PathStep {
  /** Open time of the candle, or detail candle, at whose end they hold, ms. */
  readonly time: number;
  readonly stop: number;
  /** True once the stop has moved: an exit by it is a `trailing_stop_loss`. */
  readonly moved: boolean;
  /** Distance of the stop as a ratio of the stake. */
  readonly distance: number;
  /** Price from which that distance was measured. */
  readonly from: number;
  /** 0 without one. */
  readonly liquidation: number;
  /** Value of the entries after their fee, amount and funding so far: the price of a profit depends on them. */
  readonly openValue: number;
  readonly amount: number;
  readonly funding: number;
}

/** The steps of each trade. A step is recorded only where something changed. */
export class PathRecorder {
  readonly #paths = new Map<string, PathStep[]>();

  /** Steps of a trade in the order of time; empty for an unknown one. */
  of(pair: string, openedAt: number, side: 'long' | 'short'): readonly PathStep[] {
    return this.#paths.get(keyOf(pair, openedAt, side)) ?? [];
  }

  /** Forgets all trades: the simulation begins again. */
  clear(): void {
    this.#paths.clear();
  }

  /** Records a position whose entry is filled, as of the present candle. */
  record(position: Position, candle: Candle): void {
    if (position.order.kind === 'entry') return;
    const { market, openedAt, direction, stop, liquidation, openValue, amount, funding } = position;
    const key = keyOf(market.input.pair, openedAt, direction === 1 ? 'long' : 'short');
    const steps = this.#paths.get(key) ?? [];
    this.#paths.set(key, steps);
    const last = steps.at(-1);
    if (
      last?.stop === stop &&
      last.moved === position.stopMoved &&
      last.liquidation === liquidation &&
      last.openValue === openValue &&
      last.amount === amount &&
      last.funding === funding
    )
      return;
    const step = {
      time: candle.time,
      stop,
      moved: position.stopMoved,
      distance: position.stopDistance,
      from: last?.stop === stop ? last.from : originOf(position, candle),
      liquidation,
      openValue,
      amount,
      funding,
    };
    // What happens inside of a candle is one step.
    if (last?.time === candle.time) steps[steps.length - 1] = step;
    else steps.push(step);
  }
}

/** Price from which the stop has its distance: the best price of the candle, the entry price, or that of a fill. */
function originOf(position: Position, { high, low }: Candle): number {
  const { stop, stopDistance, leverage, direction, tick, entryPrice } = position;
  const known = [bestPrice(high, low, direction), entryPrice];
  const origin = known.find((price) => stopAt(price, stopDistance, leverage, direction, tick) === stop);
  return origin ?? stop / (1 - direction * Math.abs(stopDistance / leverage));
}

function keyOf(pair: string, openedAt: number, side: 'long' | 'short'): string {
  return `${pair}\n${openedAt}\n${side}`;
}
