import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';

/** A trade of {@link simulateNaively}. */
export interface NaiveTrade {
  readonly side: 'long' | 'short';
  readonly openedAt: number;
  readonly closedAt: number;
  readonly exitPrice: number;
  readonly exitReason: string;
  readonly profit: number;
}

interface Open {
  readonly sign: 1 | -1;
  readonly openedAt: number;
  readonly entry: number;
  readonly amount: number;
  readonly liquidation: number;
  stop: number;
  distance: number;
  moved: boolean;
  funding: number;
}

/**
 * The rules of reference/freqtrade-2026.md for one pair and the `freqtrade` fill model, written down again as plainly as they are
 * stated: every candle is visited and every profit computed as a ratio. Nothing is shared with the simulator.
 */
export function simulateNaively(input: PairInput, run: SimulationSettings): NaiveTrade[] {
  const { timestamp, open, high, low } = input.candles;
  const flag = (column: Uint8Array | undefined, row: number) => column?.[row - 1] === 1;
  const { signals } = input;
  const trades: NaiveTrade[] = [];
  let trade: Open | null = null;
  let balance = run.startingBalance;
  const last = timestamp.length - 1;

  const value = (t: Open, price: number) =>
    t.sign === 1
      ? t.amount * price * (1 - run.fee) + t.funding
      : t.amount * price * (1 + run.fee) - t.funding;
  const cost = (t: Open) => t.amount * t.entry * (t.sign === 1 ? 1 + run.fee : 1 - run.fee);
  const profitOf = (t: Open, price: number) => t.sign * (value(t, price) - cost(t));
  const ratioOf = (t: Open, price: number) =>
    Number((t.sign * (value(t, price) / cost(t) - 1) * run.leverage).toFixed(8));
  const shifted = (price: number, sign: number, share: number) =>
    sign === 1 ? price * (1 - share) : price * (1 + share);

  const directionAt = (row: number) => {
    const short = run.canShort && flag(signals.enterShort, row);
    const long = flag(signals.enterLong, row);
    if (long && !short && !flag(signals.exitLong, row)) return 1;
    if (short && !long && !flag(signals.exitShort, row)) return -1;
    return 0;
  };
  const enter = (row: number): Open | null => {
    const sign = directionAt(row);
    // Money has 8 decimals: what liquidations leave of a wallet may be less than the last of them.
    const available = Number((balance * 0.99).toFixed(8));
    const wanted = run.stake.kind === 'fixed' ? run.stake.amount : available / run.maxOpenTrades;
    if (sign === 0 || row === last || wanted <= 0 || available < wanted) return null;
    const entry = open[row]! * (1 + sign * run.slippage);
    const amount = (wanted / entry) * run.leverage;
    const { maintenanceMarginRate, buffer } = run.liquidation;
    const bare = (entry - (sign * wanted) / amount) / (1 - sign * (maintenanceMarginRate + run.fee));
    const liquidation = run.leverage === 1 && sign === 1 ? 0 : bare + sign * Math.abs(entry - bare) * buffer;
    const stop = shifted(entry, sign, Math.abs(run.stoploss) / run.leverage);
    const openedAt = timestamp[row]!;
    return {
      sign,
      openedAt,
      entry,
      amount,
      liquidation,
      stop,
      distance: run.stoploss,
      moved: false,
      funding: 0,
    };
  };
  const fund = (t: Open, row: number) => {
    t.funding = 0;
    for (const [index, at] of (input.funding?.timestamp ?? []).entries())
      if (at >= t.openedAt && at <= timestamp[row]!)
        t.funding -= t.sign * input.funding!.rate[index]! * input.funding!.markPrice[index]! * t.amount;
  };
  const finish = (t: Open, row: number, price: number, exitReason: string, market: boolean) => {
    const exitPrice = market ? shifted(price, t.sign, run.slippage) : price;
    const profit = profitOf(t, exitPrice);
    balance += Number(profit.toFixed(8));
    const side = t.sign === 1 ? 'long' : 'short';
    trades.push({ side, openedAt: t.openedAt, closedAt: timestamp[row]!, exitPrice, exitReason, profit });
  };

  /** Whether the trade ended in `row`. */
  const exit = (t: Open, row: number): boolean => {
    const [o, h, l] = [open[row]!, high[row]!, low[row]!];
    const [best, worst] = t.sign === 1 ? [h, l] : [l, h];
    const hits = (level: number) => (t.sign === 1 ? level >= worst : level <= worst);
    const { trailing } = run;
    if (trailing && !hits(t.stop)) {
      const profit = ratioOf(t, best);
      const offset = trailing.offset ?? 0;
      if (!(trailing.only_offset_is_reached && profit < offset)) {
        const distance = trailing.positive && profit > offset ? trailing.positive : run.stoploss;
        const stop = shifted(best, t.sign, Math.abs(distance) / run.leverage);
        if (t.sign === 1 ? stop > t.stop : stop < t.stop) Object.assign(t, { stop, distance, moved: true });
      }
    }
    const whole = (level: number) => (t.sign === 1 ? level > h : level < l);
    const minutes = (timestamp[row]! - t.openedAt) / 60_000;
    const keys = Object.keys(run.minimalRoi ?? {}).map(Number);
    const key = Math.max(...keys.filter((candidate) => candidate <= minutes));
    const required = run.minimalRoi?.[key];
    const entersAgain = flag(t.sign === 1 ? signals.enterLong : signals.enterShort, row);

    if (run.useExitSignal && !entersAgain && flag(t.sign === 1 ? signals.exitLong : signals.exitShort, row))
      if (!run.exitProfitOnly || ratioOf(t, o) > run.exitProfitOffset) {
        finish(t, row, o, 'exit_signal', true);
        return true;
      }
    if (hits(t.stop) && !t.moved) {
      finish(t, row, whole(t.stop) ? o : t.stop, 'stop_loss', true);
      return true;
    }
    if (!hits(t.stop) && t.liquidation > 0 && hits(t.liquidation)) {
      finish(t, row, whole(t.liquidation) ? o : t.liquidation, 'liquidation', true);
      return true;
    }
    if (
      required !== undefined &&
      !(run.ignoreRoiIfEntrySignal && entersAgain) &&
      ratioOf(t, best) > required
    ) {
      const onGrid = key % 60 === 0;
      const paid = t.entry * (1 + t.sign * run.fee);
      const received = (t.sign * t.funding) / t.amount;
      let price = (paid * (1 + (t.sign * required) / run.leverage) - received) / (1 - t.sign * run.fee);
      if (required === -1) price = onGrid ? o : worst;
      else if (minutes > 0 && minutes === key && onGrid && t.sign * (o - price) > 0) price = o;
      finish(t, row, Math.min(Math.max(price, l), h), 'roi', false);
      return true;
    }
    if (hits(t.stop)) {
      let price = whole(t.stop) ? o : t.stop;
      if (price === t.stop && minutes === 0) {
        const byOffset = trailing?.only_offset_is_reached && trailing.positive;
        price = byOffset
          ? o * (1 + t.sign * ((trailing.offset ?? 0) - trailing.positive! / run.leverage))
          : shifted(o, t.sign, Math.abs(t.distance) / run.leverage);
        price = t.sign === 1 ? Math.max(price, l) : Math.min(price, h);
        // An order that the candle does not fill is too old in the next one.
        if (price < l || price > h) return false;
      }
      finish(t, row, price, 'trailing_stop_loss', true);
      return true;
    }
    return false;
  };

  for (let row = 1; row <= last; row++) {
    const held: Open | null = trade;
    trade ??= enter(row);
    if (trade) {
      fund(trade, row);
      if (exit(trade, row)) trade = null;
    }
    if (held && !trade && directionAt(row) === -held.sign) {
      trade = enter(row);
      if (trade) {
        fund(trade, row);
        if (exit(trade, row)) trade = null;
      }
    }
  }
  if (trade) finish(trade, last, open[last]!, 'force_exit', true);
  return trades;
}
