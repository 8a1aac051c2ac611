import { Exact } from './exact.ts';

/**
 * Decimal arithmetic on doubles: freqtrade multiplies money as the shortest decimal strings of its doubles and rounds these strings
 * (docs/simulation.md#numbers). Where prices and amounts are multiples of steps, ties are common and a double's last bit decides.
 */

/** Powers of ten that a double holds exactly. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Values with more decimals are results of a division. */
const MAX_DECIMALS = 15;

/** Integers beyond it are not all doubles. */
const MAX_INTEGER = Number.MAX_SAFE_INTEGER;

/** A fraction further from one half than this, plus the error of `value * 1e8`, is not a tie. */
const NEARLY_HALF = 0.4999;

/**
 * Rounds to 8 decimals, as profits and profit ratios are booked: the decimal next to the exact value, the even one of two. Never
 * yields -0. Math.round would branch on the fraction, which no processor can predict: three times as slow per candle.
 */
export function round8(value: number): number {
  const scaled = value * 1e8;
  const whole = Math.floor(scaled + 0.5);
  return Math.abs(scaled - whole) + Math.abs(scaled) * Number.EPSILON < NEARLY_HALF
    ? whole / 1e8 + 0
    : round8Exactly(value);
}

function round8Exactly(value: number): number {
  const rounded = Number(value.toFixed(8)) + 0;
  // An exact tie has nine decimals, the last of them 5, and so is an odd number of 512ths. toFixed takes its greater neighbour.
  const isTie = Number.isInteger(value * 512) && !Number.isInteger(value * 256);
  if (!isTie) return rounded;
  const units = Math.round(rounded * 1e8);
  return (units % 2 === 0 ? units : units - Math.sign(units)) / 1e8 + 0;
}

/**
 * Rounds a ratio to 8 decimals, for decisions. A quotient is never a tie of decimals. Checking for ties in every candle would
 * more than double the run time of a strategy with callbacks.
 */
export function roundRatio(value: number): number {
  return Math.floor(value * 1e8 + 0.5) / 1e8 + 0;
}

/** Decimals of the shortest decimal string of `value`; -1 above {@link MAX_DECIMALS} or {@link MAX_INTEGER}. */
function decimalsOf(value: number): number {
  for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++) {
    const units = Math.round(value * POWERS[decimals]!);
    if (units > MAX_INTEGER) return -1;
    if (units / POWERS[decimals]! === value) return decimals;
  }
  return -1;
}

/** Up to it an integer over a power of ten is the only one that is its double: it has 15 digits. */
const MAX_UNIQUE = 1e15;

/** {@link decimalsOf} or up to two more, in fewer steps. */
function enoughDecimalsOf(value: number): number {
  for (let decimals = 2; decimals < MAX_DECIMALS; decimals += 3) {
    const units = Math.round(value * POWERS[decimals]!);
    if (units > MAX_UNIQUE) break;
    if (units / POWERS[decimals]! === value) return decimals;
  }
  return decimalsOf(value);
}

/** High half of a double's digits (Dekker). */
function highOf(value: number): number {
  const spread = value * 134_217_729;
  return spread - (spread - value);
}

/** Rounding error of the double `product` of `a` and `b`: the exact product minus it. */
function missingOf(a: number, b: number, product: number): number {
  const highA = highOf(a);
  const highB = highOf(b);
  const lowA = a - highA;
  const lowB = b - highB;
  return lowA * lowB - (product - highA * highB - lowA * highB - highA * lowB);
}

/**
 * `amount * price * factor` as the product of their decimals, rounded to a double once. The factor is 1, or 1 plus or minus a
 * fee.
 */
export function decimalProduct(amount: number, price: number, factor: number): number {
  // 1 plus a fee is not the nearest double to its decimal value.
  const clean = Math.round(factor * 1e12) / 1e12;
  const amountDecimals = enoughDecimalsOf(amount);
  const priceDecimals = amountDecimals < 0 ? -1 : enoughDecimalsOf(price);
  const factorDecimals = priceDecimals < 0 ? -1 : enoughDecimalsOf(clean);
  const decimals = amountDecimals + priceDecimals + factorDecimals;
  if (factorDecimals < 0 || decimals >= POWERS.length) return exactProduct(amount, price, clean);
  const a = Math.round(amount * POWERS[amountDecimals]!);
  const b = Math.round(price * POWERS[priceDecimals]!);
  const c = Math.round(clean * POWERS[factorDecimals]!);
  const value = a * b;
  const product = value * c;
  const rest = missingOf(value, c, product) + missingOf(a, b, value) * c;
  const divisor = POWERS[decimals]!;
  const quotient = product / divisor;
  const covered = quotient * divisor;
  return quotient + (product - covered - missingOf(quotient, divisor, covered) + rest) / divisor;
}

function exactProduct(amount: number, price: number, factor: number): number {
  return Exact.of(amount).times(Exact.of(price)).times(Exact.of(factor)).toNumber();
}

/** The step of a grid of prices or amounts as a fraction of integers. */
export interface Step {
  readonly units: number;
  readonly scale: number;
}

/** Step of a grid with `decimals` decimals: 0.01 for 2. */
export function stepOfDecimals(decimals: number): Step {
  return { units: 1, scale: Number(`1e${decimals}`) };
}

/** The step of an exchange as integers; null without one, and for a step with more than 15 decimals. */
export function stepOf(step: number | null): Step | null {
  if (step === null || !(step > 0)) return null;
  const decimals = decimalsOf(step);
  return decimals < 0 ? null : { units: Math.round(step * POWERS[decimals]!), scale: POWERS[decimals]! };
}

// These are small, so that V8 inlines them: with the arithmetic of a step they would use up the inlining budget of the hot
// functions, also in runs without precision.

/** The nearest multiple of the step, the greater one of two (docs/simulation.md#rounding); `value` without a step. */
export function roundHalfUp(value: number, step: Step | null): number {
  return step === null ? value : nearestMultiple(value, step);
}

/** The greatest multiple of the step that is not above `value`. */
export function roundDown(value: number, step: Step | null): number {
  return step === null ? value : multipleBelow(value, step);
}

/** The least multiple of the step that is not below `value`. */
export function roundUp(value: number, step: Step | null): number {
  return step === null ? value : multipleAbove(value, step);
}

function nearestMultiple(value: number, { units, scale }: Step): number {
  let multiple = Math.round((value * scale) / units);
  // The quotient is only nearly exact. Doubles of decimals are ordered as the decimals are.
  if (value >= ((2 * multiple + 1) * units) / (2 * scale)) multiple++;
  else if (value < ((2 * multiple - 1) * units) / (2 * scale)) multiple--;
  return (multiple * units) / scale;
}

function multipleBelow(value: number, { units, scale }: Step): number {
  const multiple = Math.round((value * scale) / units);
  const nearest = (multiple * units) / scale;
  return nearest <= value ? nearest : ((multiple - 1) * units) / scale;
}

function multipleAbove(value: number, { units, scale }: Step): number {
  const multiple = Math.round((value * scale) / units);
  const nearest = (multiple * units) / scale;
  return nearest >= value ? nearest : ((multiple + 1) * units) / scale;
}
