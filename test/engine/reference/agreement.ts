import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import type { Outcome, ReferenceTrade, Rules } from './types.ts';

// Differences between a run of the engine and one of the reference implementation, one line each; empty if they agree.

const PRICE_TOLERANCE = 1e-9;
const RATIO_TOLERANCE = 1.5e-8;
/** Quote currency. */
const BALANCE_TOLERANCE = 5e-6;

const near = (a: number, b: number, relative: number): boolean =>
  a === b || Math.abs(a - b) <= relative * Math.max(Math.abs(a), Math.abs(b));

const EXACT = [
  ['pair', 'pair'],
  ['side', 'side'],
  ['exitReason', 'reason'],
  ['openedAt', 'openTime'],
  ['closedAt', 'closeTime'],
] as const satisfies [keyof SimulatedTrade, keyof ReferenceTrade][];

const PRICES = [
  ['entryPrice', 'entry'],
  ['exitPrice', 'exit'],
  ['initialStopPrice', 'initialStop'],
  ['stopPrice', 'stop'],
  ['lowestPrice', 'lowest'],
  ['highestPrice', 'highest'],
] as const satisfies [keyof SimulatedTrade, keyof ReferenceTrade][];

const MONEY = [
  ['stake', 'stake'],
  ['fees', 'fees'],
  ['slippageCost', 'slippageCost'],
  ['funding', 'funding'],
  ['profit', 'profit'],
] as const satisfies [keyof SimulatedTrade, keyof ReferenceTrade][];

/** `before` is the number of trades closed before this one: each rounds the balance to 8 decimals. */
function differ(engine: SimulatedTrade, reference: ReferenceTrade, rules: Rules, before: number): string[] {
  const { leverage } = rules;
  const wrong: string[] = [];
  const check = (holds: boolean, field: string, a: unknown, b: unknown) => {
    if (!holds) wrong.push(`${field}: engine ${a}, reference ${b}`);
  };
  for (const [mine, theirs] of EXACT) {
    check(engine[mine] === reference[theirs], mine, engine[mine], reference[theirs]);
  }
  for (const [mine, theirs] of PRICES) {
    check(near(engine[mine], reference[theirs], PRICE_TOLERANCE), mine, engine[mine], reference[theirs]);
  }
  // A stake is a share of a balance with the rounding of all earlier profits. The other amounts follow the stake.
  const { orders } = reference;
  const invested = orders.reduce((sum, { price, amount }) => sum + price * amount, 0) / leverage;
  const noise = (PRICE_TOLERANCE * invested + 2e-8 * (before + orders.length)) * leverage;
  for (const [mine, theirs] of MONEY) {
    check(Math.abs(engine[mine] - reference[theirs]) <= noise, mine, engine[mine], reference[theirs]);
  }
  const amountPerStake = reference.amount / reference.stake;
  const amountHolds = near(engine.amount / engine.stake, amountPerStake, PRICE_TOLERANCE);
  check(amountHolds, 'amount for the stake', engine.amount, reference.amount);
  const ratioGap = Math.abs(engine.profitRatio - reference.ratio);
  // Relative to a profit of 8 decimals, regardless of the stake.
  check(
    ratioGap <= RATIO_TOLERANCE * orders.length + 2e-8 / reference.stake,
    'profitRatio',
    engine.profitRatio,
    reference.ratio,
  );
  const { liquidationPrice } = engine;
  const liquidation = reference.liquidation ?? null;
  const same =
    liquidationPrice === null || liquidation === null
      ? liquidationPrice === liquidation
      : near(liquidationPrice, liquidation, PRICE_TOLERANCE);
  check(same, 'liquidationPrice', liquidationPrice, liquidation);
  check(engine.enterTag === (reference.enterTag ?? null), 'enterTag', engine.enterTag, reference.enterTag);
  check(engine.leverage === leverage, 'leverage', engine.leverage, leverage);
  check(
    engine.leftOpen === (reference.reason === 'force_exit'),
    'leftOpen',
    engine.leftOpen,
    reference.reason,
  );
  wrong.push(...differingOrders(engine, reference, noise));
  return wrong;
}

/** A trade of two orders has no list of them. */
function differingOrders({ orders }: SimulatedTrade, reference: ReferenceTrade, noise: number): string[] {
  const theirs = reference.orders;
  if (!orders) return theirs.length === 2 ? [] : [`orders: engine none, reference ${theirs.length}`];
  const isEqual =
    orders.length === theirs.length &&
    orders.every(({ side, placedAt, filledAt, price, amount, funding, tag }, at) => {
      const other = theirs[at]!;
      return (
        side === other.side &&
        placedAt === other.placed &&
        filledAt === other.filled &&
        tag === (other.tag ?? null) &&
        near(price, other.price, PRICE_TOLERANCE) &&
        Math.abs(amount - other.amount) * other.price <= noise &&
        Math.abs(funding - other.funding) <= noise
      );
    });
  return isEqual ? [] : [`orders: engine ${JSON.stringify(orders)}, reference ${JSON.stringify(theirs)}`];
}

function differingCurves(engine: Simulation, reference: Outcome): string[] {
  const { curve } = engine;
  if (curve === null) return ['no curve'];
  if (curve.timestamp.length !== reference.equity.length) {
    return [`curve: engine ${curve.timestamp.length} rows, reference ${reference.equity.length}`];
  }
  for (const [row, point] of reference.equity.entries()) {
    const at = `${new Date(point.time).toISOString()}`;
    if (curve.timestamp[row] !== point.time) return [`curve: time ${curve.timestamp[row]} for ${at}`];
    if (curve.openTrades[row] !== point.openTrades) {
      return [`openTrades at ${at}: engine ${curve.openTrades[row]}, reference ${point.openTrades}`];
    }
    const noise = BALANCE_TOLERANCE + PRICE_TOLERANCE * Math.abs(point.value);
    if (!(Math.abs((curve.balance[row] as number) - point.balance) <= noise)) {
      return [`balance at ${at}: engine ${curve.balance[row]}, reference ${point.balance}`];
    }
    if (!(Math.abs((curve.equity[row] as number) - point.value) <= noise)) {
      return [`equity at ${at}: engine ${curve.equity[row]}, reference ${point.value}`];
    }
  }
  return [];
}

/** All differences between the runs, with the first differing trade in full. */
export function disagreements(engine: Simulation, reference: Outcome, rules: Rules): string[] {
  const common = Math.min(engine.trades.length, reference.trades.length);
  for (let i = 0; i < common; i += 1) {
    const wrong = differ(engine.trades[i] as SimulatedTrade, reference.trades[i] as ReferenceTrade, rules, i);
    if (wrong.length > 0) return [`trade ${i}`, ...wrong];
  }
  const wrong: string[] = [];
  if (engine.trades.length !== reference.trades.length) {
    wrong.push(`trades: engine ${engine.trades.length}, reference ${reference.trades.length}`);
  }
  const { rejectedSignals } = engine.counters;
  if (rejectedSignals !== reference.rejectedSignals) {
    wrong.push(`rejectedSignals: engine ${rejectedSignals}, reference ${reference.rejectedSignals}`);
  }
  for (const [name, count] of Object.entries(reference.orders)) {
    const mine = engine.counters[name as keyof Outcome['orders']];
    if (mine !== count) wrong.push(`${name}: engine ${mine}, reference ${count}`);
  }
  if (!(Math.abs(engine.finalBalance - reference.finalBalance) <= BALANCE_TOLERANCE)) {
    wrong.push(`finalBalance: engine ${engine.finalBalance}, reference ${reference.finalBalance}`);
  }
  return [...wrong, ...differingCurves(engine, reference)];
}

/** Quote currency. */
const DUST = 1e-3;

const isDust = (stake: number, orders: readonly { price: number; amount: number }[] = []): boolean =>
  stake < DUST || orders.some(({ price, amount }) => price * amount < DUST);

/** True if the account or what may be staked is so close to zero that a rounding decides about a trade or an order. */
export function endsInDust(reference: Outcome, engine?: Simulation): boolean {
  return (
    reference.smallestRest < DUST ||
    reference.trades.some(({ stake, orders }) => isDust(stake, orders)) ||
    engine?.trades.some(({ stake, orders }) => isDust(stake, orders)) ||
    reference.equity.some(({ balance }) => Math.abs(balance) < DUST)
  );
}
