import type { LeverageTier } from '#engine/instrument.ts';

/** Tiers of a symbol at most. Binance has up to 12, Bybit up to 50. */
const MAX_TIERS = 200;
/** Relative error of a limit that an exchange rounds. */
const NOISE = 1e-9;
/** Largest jump of the margin at a limit, as a share of it: exchanges round their amounts. */
const MAX_JUMP = 0.01;

/** A tier as ccxt returns it, and as freqtrade's file of tiers has it. */
interface GivenTier {
  readonly minNotional?: unknown;
  readonly maxNotional?: unknown;
  readonly maxLeverage?: unknown;
  readonly maintenanceMarginRate?: unknown;
  /** As sent by the exchange: some state the amount that makes the margin continuous. */
  readonly info?: Readonly<Partial<Record<'cum' | 'mmDeduction' | 'deduction', unknown>>>;
}

/**
 * Leverage tiers, checked. An amount that is not stated follows from the rates: each is the one before, plus the step of the rate
 * at the limit.
 *
 * @throws RangeError that names the tier: a wrong margin would move every liquidation price
 */
export function readLeverageTiers(given: unknown): LeverageTier[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_TIERS)
    throw new RangeError(`leverage tiers must be a list of 1 to ${MAX_TIERS} tiers`);
  const tiers: LeverageTier[] = [];
  for (const each of given as (GivenTier | null)[]) {
    const tier = readTier(each ?? {}, tiers.at(-1));
    const problem = problemOf(tier, tiers.at(-1));
    if (problem) throw new RangeError(`leverage tier ${tiers.length + 1}: ${problem}`);
    tiers.push(tier);
  }
  return tiers;
}

function readTier(given: GivenTier, before: LeverageTier | undefined): LeverageTier {
  const { info = {} } = given;
  const minNotional = Number(given.minNotional);
  const maintenanceRate = Number(given.maintenanceMarginRate);
  const step = continuousAmount({ minNotional, maintenanceRate }, before);
  const stated = [info.cum, info.mmDeduction, info.deduction].find(isStated);
  return {
    minNotional,
    maxNotional: Number(given.maxNotional),
    maxLeverage: Number(given.maxLeverage),
    maintenanceRate,
    maintenanceAmount: stated === undefined ? step : Number(stated),
  };
}

/** The amount with which the margin at the limit is that of the tier before. */
function continuousAmount(
  { minNotional, maintenanceRate }: Pick<LeverageTier, 'minNotional' | 'maintenanceRate'>,
  before: LeverageTier | undefined,
): number {
  return before ? before.maintenanceAmount + minNotional * (maintenanceRate - before.maintenanceRate) : 0;
}

const isStated = (value: unknown) => value !== undefined && value !== null && value !== '';

function problemOf(tier: LeverageTier, before: LeverageTier | undefined): string | undefined {
  const { minNotional, maxNotional, maxLeverage, maintenanceRate, maintenanceAmount } = tier;
  if (!Object.values(tier).every(Number.isFinite)) return 'a number is missing';
  const start = before?.maxNotional ?? 0;
  if (Math.abs(minNotional - start) > start * NOISE) return `begins at ${minNotional}, not at ${start}`;
  if (!(maxNotional > minNotional)) return `ends at ${maxNotional}, not above ${minNotional}`;
  if (!(maxLeverage >= 1)) return `maximum leverage ${maxLeverage} is below 1`;
  if (!(maintenanceRate >= 0 && maintenanceRate < 1)) return `rate ${maintenanceRate} is not from 0 to 1`;
  if (before && maintenanceRate < before.maintenanceRate)
    return `rate ${maintenanceRate} is below the one before`;
  if (maintenanceAmount < 0) return `amount ${maintenanceAmount} is below 0`;
  if (before && maxLeverage > before.maxLeverage)
    return `maximum leverage ${maxLeverage} is above the one before`;
  return jumpOf(tier, before);
}

/** The engine takes the tier with the largest margin, which is that of the value only where the margin is continuous. */
function jumpOf(tier: LeverageTier, before: LeverageTier | undefined): string | undefined {
  const { minNotional, maintenanceAmount } = tier;
  const wanted = continuousAmount(tier, before);
  const margin = before ? minNotional * before.maintenanceRate - before.maintenanceAmount : 0;
  if (Math.abs(maintenanceAmount - wanted) <= MAX_JUMP * margin) return undefined;
  return `amount ${maintenanceAmount} lets the margin jump at ${minNotional}; it is continuous with ${Number(wanted.toPrecision(9))}`;
}
