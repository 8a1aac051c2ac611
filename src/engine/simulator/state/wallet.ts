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

  constructor(
    startingBalance: number,
    {
      tradableBalanceRatio,
      availableCapital,
    }: Pick<ResolvedSettings, 'tradableBalanceRatio' | 'availableCapital'>,
  ) {
    this.balance = startingBalance;
    this.#start = startingBalance;
    this.#tradableBalanceRatio = tradableBalanceRatio;
    this.#availableCapital = availableCapital;
  }

  /**
   * Quote currency for further orders (docs/simulation.md#slots-and-stakes).
   *
   * @param collateral of all positions, and what is not free yet
   * @param locked profit that is not free yet
   */
  available(collateral = this.collateral(), locked = 0): number {
    const realized = this.#availableCapital === null ? 0 : this.#realizedOpen();
    return this.availableOf(this.balance - locked, collateral, realized);
  }

  /**
   * {@link available} of another state of the account.
   *
   * @param realized profit that partial exits of open trades have realized
   */
  availableOf(balance: number, collateral: number, realized: number): number {
    const capital = this.#availableCapital;
    const tradable =
      capital === null
        ? balance * this.#tradableBalanceRatio
        : capital + round8(balance - this.#start - realized);
    return availableStake(balance, collateral, tradable);
  }

  #realizedOpen(): number {
    let open = 0;
    for (const { history } of this.positions) open += history?.realizedProfit ?? 0;
    return open;
  }

  /** Collateral of all positions, waiting entries included. Summed each time: a running sum would drift. */
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
