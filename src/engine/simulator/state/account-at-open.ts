import { indexAtOrAfter } from '../../candles.ts';
import type { AccountWallet, OpenTrade } from '../../strategy.ts';
import { round8 } from '../rules/decimals.ts';
import { proposedStake } from '../rules/money.ts';
import type { ResolvedSettings } from '../settings.ts';
import type { CandleCursor } from './candle-cursor.ts';
import type { Market } from './market.ts';
import type { Position } from './position.ts';
import { TradeAtOpen } from './trade-at-open.ts';
import type { Wallet } from './wallet.ts';

/**
 * The account at the open of the forming candle, for callbacks (docs/simulation.md#the-account-that-callbacks-see). Pairs are
 * simulated one after another: what happened inside the candle to those before must not be seen. A position that may change inside is
 * therefore kept as it was at the open. Nothing else is computed before a callback reads it.
 */
export class AccountAtOpen {
  readonly fee: number;
  readonly #wallet: Wallet;
  readonly #candle: CandleCursor;
  readonly #settings: ResolvedSettings;
  /** Positions whose trades ended inside their candle, and were open at its open. */
  #ended: Position[] = [];
  /** End of the candle of the last exit that was booked inside one, ms. */
  #insideUntil = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(wallet: Wallet, candle: CandleCursor, settings: ResolvedSettings) {
    this.#wallet = wallet;
    this.#candle = candle;
    this.fee = settings.fee;
    this.#settings = settings;
  }

  /** Keeps a position as it is now, before a fill inside the present candle. The first state of a candle counts. */
  keep(position: Position): void {
    const { time } = this.#candle;
    position.atOpen ??= new TradeAtOpen(position);
    if (position.atOpen.until > time) return;
    position.atOpen.take(time);
    position.atOpen.until = this.#endOf(time);
  }

  /** Keeps the stop as it is now, before it moves inside the present candle. */
  keepStop(position: Position): void {
    const { time } = this.#candle;
    if (position.stopKeptUntil > time) return;
    position.keptStop = position.stop;
    position.stopKeptUntil = this.#endOf(time);
  }

  /**
   * Notes an entry that was just ordered. One that an exit inside the candle made possible is not known yet, and a size that follows
   * from such an exit neither; an order whose price the candle has limited waits at the price that the strategy named.
   *
   * @param asked that price
   * @param proposed stake that was proposed to the strategy
   * @param wanted stake that it returned
   */
  noteEntry(position: Position, limit: number, asked: number, proposed: number, wanted: number): void {
    const { time } = this.#candle;
    const known = this.#insideUntil > time ? this.#knownStake(position) : proposed;
    if (asked === limit && known === proposed) return;
    this.keep(position);
    const kept = position.atOpen!;
    // The pair's trade before this one ended inside the candle, and is the one that is known.
    if (kept.ordinal !== position.ordinal) return;
    kept.exists = known !== null;
    if (known !== null && wanted === proposed) kept.scale(known / proposed);
    if (asked !== limit) kept.waitAt(asked);
  }

  /** The stake that would be proposed without exits inside the candle; null without a slot or money. */
  #knownStake({ ordinal, stake }: Position): number | null {
    const { fixedStake, maxOpenTrades, amendLastStake, lastStakeMinRatio } = this.#settings;
    const { time } = this.#candle;
    const others = this.#tradesAt(time).filter((trade) => trade.ordinal !== ordinal);
    if (others.length >= maxOpenTrades) return null;
    const available = this.#availableTo(others, time);
    const collateral = collateralOf(others);
    const known = proposedStake(
      fixedStake,
      available,
      collateral,
      maxOpenTrades,
      amendLastStake,
      lastStakeMinRatio,
    );
    const isSized = fixedStake === 0 || amendLastStake;
    return isSized || round8(available) >= round8(stake) ? known : null;
  }

  /** Notes a booked exit. */
  noteExit(position: Position, profit: number, isWhole: boolean): void {
    const { atOpen } = position;
    const { time } = this.#candle;
    if (atOpen === null || atOpen.until <= time) return;
    atOpen.profitInside += profit;
    if (atOpen.until > this.#insideUntil) this.#insideUntil = atOpen.until;
    if (!isWhole) return;
    const others = this.#ended.filter((each) => each !== position && each.atOpen!.until > time);
    this.#ended = [...others, position];
  }

  #endOf(time: number): number {
    const { detailTimeframeMs, timeframeMs } = this.#settings;
    return time + (this.#candle.isDetail ? detailTimeframeMs : timeframeMs);
  }

  /** Ends the simulation: a context that a strategy kept must not show its last account to another simulation. */
  end(): void {
    this.#isOver = true;
  }

  /** The wallet at the open of the candle of `time`, ms. */
  walletAt(time: number): AccountWallet {
    const trades = this.#tradesAt(time);
    const total = this.#totalAt(time);
    let unrealized = 0;
    for (const trade of trades) unrealized += trade.unrealizedAt(openOf(trade.market, time));
    return Object.freeze({ free: total - collateralOf(trades), total, equity: total + unrealized });
  }

  /** The trades that are open at the open of the candle of `time`, ms, waiting entries included, in the order of opening. */
  openTradesAt(time: number): readonly OpenTrade[] {
    const trades = this.#tradesAt(time).map((trade) => trade.view(openOf(trade.market, time), this.fee));
    return Object.freeze(trades);
  }

  /** Quote currency for an entry at the open of the candle of `time`, ms. */
  availableAt(time: number): number {
    return this.#availableTo(this.#tradesAt(time), time);
  }

  #availableTo(trades: readonly TradeAtOpen[], time: number): number {
    let realized = 0;
    for (const { realizedProfit } of trades) realized += realizedProfit;
    return this.#wallet.availableOf(this.#totalAt(time), collateralOf(trades), realized);
  }

  /** Tag of the pair's open trade, or of its entry signal that acts in `row`, the candle of `time`, ms. */
  enterTagAt(market: Market, row: number, time: number): string | null {
    const trade = this.#tradesAt(time).find((each) => each.market === market);
    return trade ? trade.enterTag : market.enterTag(row);
  }

  /** Start plus the profit of the exits that are known, at 8 decimals as each profit. */
  #totalAt(time: number): number {
    let inside = 0;
    for (const { atOpen } of this.#wallet.positions)
      if (atOpen !== null && atOpen.until > time) inside += atOpen.profitInside;
    for (const { atOpen, isOpen } of this.#ended)
      if (atOpen!.until > time && !isOpen) inside += atOpen!.profitInside;
    return round8(this.#wallet.balance - inside);
  }

  #tradesAt(time: number): TradeAtOpen[] {
    if (this.#isOver)
      throw new Error(
        'The simulation of this context has ended: read wallet and openTrades in the callback that gets the context',
      );
    const trades: TradeAtOpen[] = [];
    for (const position of this.#wallet.positions) {
      const { atOpen } = position;
      if (atOpen === null || atOpen.until <= time) trades.push(new TradeAtOpen(position).take(time));
      else if (atOpen.exists) trades.push(atOpen);
    }
    for (const { atOpen, isOpen } of this.#ended)
      if (atOpen!.until > time && atOpen!.exists && !isOpen) trades.push(atOpen!);
    return trades.sort((a, b) => a.ordinal - b.ordinal);
  }
}

function collateralOf(trades: readonly TradeAtOpen[]): number {
  let sum = 0;
  for (const { stake } of trades) sum += stake;
  return sum;
}

/** Open of the candle of a pair that forms at `time`, ms; without one its last known price. */
function openOf(market: Market, time: number): number {
  const { candles, length } = market;
  const row = market.rowAt(time);
  if (row >= length) return candles.close[length - 1]!;
  const opened = market.timeOf(row);
  const { detail } = market.input;
  if (time === opened || !detail) return candles.open[row]!;
  const index = indexAtOrAfter(detail.timestamp, time);
  if (detail.timestamp[index] === time) return detail.open[index]!;
  return detail.timestamp[index - 1]! >= opened ? detail.close[index - 1]! : candles.open[row]!;
}
