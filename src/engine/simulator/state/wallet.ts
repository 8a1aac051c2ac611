import { round8 } from '../rules/decimals.ts';
import type { Position } from './position.ts';

/** The account of a run. */
export class Wallet {
  /** Starting balance plus the profit of closed trades, quote currency, at 8 decimals like each profit. */
  balance: number;
  /** Open positions and waiting entries in the order they were opened. */
  readonly positions: Position[] = [];

  constructor(startingBalance: number) {
    this.balance = startingBalance;
  }

  /** Collateral of all positions, waiting entries included. Summed each time: a running sum would drift. */
  collateral(): number {
    let sum = 0;
    for (const position of this.positions) sum += position.stake;
    return sum;
  }

  /** Books the profit of a closed trade. */
  book(profit: number): void {
    this.balance = round8(this.balance + profit);
  }
}
