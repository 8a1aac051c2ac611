import { round8 } from '../rules/decimals.ts';
import { availableStake } from '../rules/money.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { Position } from './position.ts';

/** The account of a run. */
export class Wallet {
  /** Starting balance plus the profit of all exits, quote currency, at 8 decimals like each profit. */
  declare balance: number;
  /** Open positions and waiting entries in the order they were opened. */
  readonly positions: Position[] = [];

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

  /** Quote currency for further orders; `collateral` is that of all positions (docs/simulation.md#slots-and-stakes). */
  available(collateral = this.collateral()): number {
    const capital = this.#availableCapital;
    const tradable =
      capital === null ? this.balance * this.#tradableBalanceRatio : capital + this.#closedProfit();
    return availableStake(this.balance, collateral, tradable);
  }

  /** Profit of closed trades, without what partial exits of open ones have realized. */
  #closedProfit(): number {
    let open = 0;
    for (const { history } of this.positions) open += history?.realizedProfit ?? 0;
    return round8(this.balance - this.#start - open);
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
