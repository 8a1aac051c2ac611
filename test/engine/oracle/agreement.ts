import type { Trade } from '#engine/simulator/trade-table.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import type { OracleTrade, Outcome, Rules } from './types.ts';

/** Differences between the engine's run and the oracle's, in words; none is agreement. */

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
] as const satisfies [keyof Trade, keyof OracleTrade][];

const PRICES = [
  ['entryPrice', 'entry'],
  ['exitPrice', 'exit'],
  ['initialStopPrice', 'initialStop'],
  ['stopPrice', 'stop'],
  ['lowestPrice', 'lowest'],
  ['highestPrice', 'highest'],
] as const satisfies [keyof Trade, keyof OracleTrade][];

const MONEY = [
  ['stake', 'stake'],
  ['fees', 'fees'],
  ['slippageCost', 'slippageCost'],
  ['funding', 'funding'],
  ['profit', 'profit'],
] as const satisfies [keyof Trade, keyof OracleTrade][];

/** `before` is the number of trades closed before this one: each rounds the balance to 8 decimals. */
function differ(engine: Trade, oracle: OracleTrade, rules: Rules, before: number): string[] {
  const { leverage } = rules;
  const wrong: string[] = [];
  const check = (holds: boolean, field: string, a: unknown, b: unknown) => {
    if (!holds) wrong.push(`${field}: engine ${a}, oracle ${b}`);
  };
  for (const [mine, theirs] of EXACT) {
    check(engine[mine] === oracle[theirs], mine, engine[mine], oracle[theirs]);
  }
  for (const [mine, theirs] of PRICES) {
    check(near(engine[mine], oracle[theirs], PRICE_TOLERANCE), mine, engine[mine], oracle[theirs]);
  }
  // A stake is a share of a balance that carries the rounding of every profit before; the rest follows the stake.
  const noise = (PRICE_TOLERANCE * oracle.stake + 2e-8 * (before + 1)) * leverage;
  for (const [mine, theirs] of MONEY) {
    check(Math.abs(engine[mine] - oracle[theirs]) <= noise, mine, engine[mine], oracle[theirs]);
  }
  const amountPerStake = oracle.amount / oracle.stake;
  const amountHolds = near(engine.amount / engine.stake, amountPerStake, PRICE_TOLERANCE);
  check(amountHolds, 'amount for the stake', engine.amount, oracle.amount);
  const ratioGap = Math.abs(engine.profitRatio - oracle.ratio);
  // It is of a profit that has 8 decimals, whatever the stake.
  check(ratioGap <= RATIO_TOLERANCE + 2e-8 / oracle.stake, 'profitRatio', engine.profitRatio, oracle.ratio);
  const { liquidationPrice } = engine;
  const liquidation = oracle.liquidation ?? null;
  const same =
    liquidationPrice === null || liquidation === null
      ? liquidationPrice === liquidation
      : near(liquidationPrice, liquidation, PRICE_TOLERANCE);
  check(same, 'liquidationPrice', liquidationPrice, liquidation);
  check(engine.enterTag === (oracle.enterTag ?? null), 'enterTag', engine.enterTag, oracle.enterTag);
  check(engine.leverage === leverage, 'leverage', engine.leverage, leverage);
  check(engine.leftOpen === (oracle.reason === 'force_exit'), 'leftOpen', engine.leftOpen, oracle.reason);
  return wrong;
}

function differingCurves(engine: Simulation, oracle: Outcome): string[] {
  const { curve } = engine;
  if (curve === null) return ['no curve'];
  if (curve.timestamp.length !== oracle.equity.length) {
    return [`curve: engine ${curve.timestamp.length} rows, oracle ${oracle.equity.length}`];
  }
  for (const [row, point] of oracle.equity.entries()) {
    const at = `${new Date(point.time).toISOString()}`;
    if (curve.timestamp[row] !== point.time) return [`curve: time ${curve.timestamp[row]} for ${at}`];
    if (curve.openTrades[row] !== point.openTrades) {
      return [`openTrades at ${at}: engine ${curve.openTrades[row]}, oracle ${point.openTrades}`];
    }
    const noise = BALANCE_TOLERANCE + PRICE_TOLERANCE * Math.abs(point.value);
    if (!(Math.abs((curve.balance[row] as number) - point.balance) <= noise)) {
      return [`balance at ${at}: engine ${curve.balance[row]}, oracle ${point.balance}`];
    }
    if (!(Math.abs((curve.equity[row] as number) - point.value) <= noise)) {
      return [`equity at ${at}: engine ${curve.equity[row]}, oracle ${point.value}`];
    }
  }
  return [];
}

/** Everything in which the two runs differ, the first differing trade in full. */
export function disagreements(engine: Simulation, oracle: Outcome, rules: Rules): string[] {
  const common = Math.min(engine.trades.length, oracle.trades.length);
  for (let i = 0; i < common; i += 1) {
    const wrong = differ(engine.trades[i] as Trade, oracle.trades[i] as OracleTrade, rules, i);
    if (wrong.length > 0) return [`trade ${i}`, ...wrong];
  }
  const wrong: string[] = [];
  if (engine.trades.length !== oracle.trades.length) {
    wrong.push(`trades: engine ${engine.trades.length}, oracle ${oracle.trades.length}`);
  }
  const { rejectedSignals } = engine.counters;
  if (rejectedSignals !== oracle.rejectedSignals) {
    wrong.push(`rejectedSignals: engine ${rejectedSignals}, oracle ${oracle.rejectedSignals}`);
  }
  if (!(Math.abs(engine.finalBalance - oracle.finalBalance) <= BALANCE_TOLERANCE)) {
    wrong.push(`finalBalance: engine ${engine.finalBalance}, oracle ${oracle.finalBalance}`);
  }
  return [...wrong, ...differingCurves(engine, oracle)];
}

/** Whether the account came so close to nothing that the rounding of a profit decides if it can trade on. */
export function endsInDust(oracle: Outcome): boolean {
  const dust = 1e-3;
  return (
    oracle.trades.some(({ stake }) => stake < dust) ||
    oracle.equity.some(({ balance }) => Math.abs(balance) < dust)
  );
}
