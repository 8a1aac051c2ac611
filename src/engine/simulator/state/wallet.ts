import { round8 } from '../rules/decimals.ts';
import { availableStake } from '../rules/money.ts';
import type { ResolvedSettings } from '../settings.ts';
import { FreedLater } from './freed-later.ts';
import type { Position } from './position.ts';

/** The account of a run. */
export class Wallet {
  /** Starting balance plus the profit of all exits, quote currency, at 8 decimals like each profit. */
  declare balance: number;
  /** Open positions and waiting entries in the order they were opened. */
  readonly positions: Position[] = [];

  readonly freedLater = new FreedLater();
  readonly #start: number;
  readonly #tradableBalanceRatio = Number.NaN;
  readonly #availableCapital: number | null;
  readonly #conservative: boolean;

  constructor(
    startingBalance: number,
    {
      tradableBalanceRatio,
      availableCapital,
      conservative,
    }: Pick<ResolvedSettings, 'tradableBalanceRatio' | 'availableCapital' | 'conservative'>,
  ) {
    this.balance = startingBalance;
    this.#start = startingBalance;
    this.#tradableBalanceRatio = tradableBalanceRatio;
    this.#availableCapital = availableCapital;
    this.#conservative = conservative;
  }

  /** Slots that are not free for an entry in the candle of `time`, ms. */
  takenSlots(time: number): number {
    return this.#conservative && this.freedLater.read(time)
      ? this.positions.length + this.freedLater.slots
      : this.positions.length;
  }

  /** Collateral that is not free in the candle of `time`, ms: of all positions, waiting entries included. */
  takenCollateral(time: number): number {
    return this.#conservative && this.freedLater.read(time)
      ? this.collateral() + this.freedLater.collateral
      : this.collateral();
  }

  /** Quote currency for further orders in the candle of `time`, ms (docs/simulation.md#slots-and-stakes). */
  available(time: number, taken = this.takenCollateral(time)): number {
    const later = this.#conservative && this.freedLater.read(time) ? this.freedLater.profit : 0;
    return this.#free(this.balance - later, taken);
  }

  /** {@link available} without what trades that end later in the candle of `time` leave. */
  availableAtOpen(time: number): number {
    if (!this.freedLater.read(time)) return this.available(time);
    const { collateral, profit } = this.freedLater;
    return this.#free(this.balance - profit, this.collateral() + collateral);
  }

  #free(balance: number, taken: number): number {
    const capital = this.#availableCapital;
    const tradable =
      capital === null ? balance * this.#tradableBalanceRatio : capital + this.#closedProfit(balance);
    return availableStake(balance, taken, tradable);
  }

  /** Profit of closed trades, without what partial exits of open ones have realized. */
  #closedProfit(balance: number): number {
    let open = 0;
    for (const { history } of this.positions) open += history?.realizedProfit ?? 0;
    return round8(balance - this.#start - open);
  }

  /** Summed each time: a running sum would drift. */
  collateral(): number {
    const { positions } = this;
    let sum = 0;
    // `for of` takes so much bytecode that V8 would inline less into the entry.
    for (let index = 0; index < positions.length; index++) sum += positions[index]!.stake;
    return sum;
  }

  /** Books the profit of an exit. */
  book(profit: number): void {
    this.balance = round8(this.balance + profit);
  }
}
