import type { Instrument } from '#engine/instrument.ts';
import type { CcxtMarket } from './ccxt-client.ts';

/** ccxt's constants for what a market's `precision` is; in significant digits (3) no step is the same for all amounts. */
const DECIMAL_PLACES = 2;
const TICK_SIZE = 4;
/** Beyond these, dividing by a step loses the number. */
const SMALLEST = 1e-18;
const LARGEST = 1e18;

/**
 * The instrument of a market as ccxt describes it. Values that cannot be true (0, negative, not a number) count as absent.
 * @param precisionMode of the exchange's class
 * @throws RangeError for a contract size that cannot be true, or a minimum above its maximum: every amount would be wrong
 */
export function instrumentOf(market: CcxtMarket, precisionMode: unknown): Instrument {
  const { limits, precision, contractSize } = market;
  const size = contractSize === undefined || contractSize === null ? 1 : positive(contractSize);
  if (size === null) throw new RangeError(`its contract size is ${JSON.stringify(contractSize)}`);
  const instrument = {
    amountStep: stepOf(precision?.amount, precisionMode),
    minAmount: positive(limits?.amount?.min),
    maxAmount: positive(limits?.amount?.max),
    minCost: positive(limits?.cost?.min),
    maxCost: positive(limits?.cost?.max),
    contractSize: size,
    priceTick: stepOf(precision?.price, precisionMode),
  };
  rejectCrossed('amount', instrument.minAmount, instrument.maxAmount);
  rejectCrossed('cost', instrument.minCost, instrument.maxCost);
  return instrument;
}

function rejectCrossed(name: string, min: number | null, max: number | null): void {
  if (min === null || max === null || min <= max) return;
  throw new RangeError(`its minimum ${name} ${min} is above its maximum ${max}`);
}

function stepOf(value: unknown, mode: unknown): number | null {
  if (mode === TICK_SIZE) return positive(value);
  if (mode !== DECIMAL_PLACES) return null;
  const places = numberOf(value);
  return Number.isInteger(places) ? positive(Number(`1e${-places}`)) : null;
}

function positive(value: unknown): number | null {
  const number = numberOf(value);
  return number >= SMALLEST && number <= LARGEST ? number : null;
}

/** NaN for what is neither a number nor the text of one. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}
