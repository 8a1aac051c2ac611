import { type Code, define, type Operand, type Variable } from './assembler.ts';
import { call, f64, f64x2, i32, i32x4, i64, i64x2, range, v128, when } from './operations.ts';

/** Fixed area of 64 bytes for values beside a result. */
export const RESULTS = 64;

/** Imported functions, by index. */
const EXP = 0;
const LOG = 1;

/** Limit of the log-odds, to avoid overflow: beyond it a probability is practically 1. */
const MAX_MARGIN = 200;
/** Times e^MAX_MARGIN it is still finite. */
const MAX_PRODUCT = 1e200;
const MIN_HESSIAN = 1e-16;

// Constants of fdlibm's e_exp.c, the exponential of V8.
const INVERSE_LN2 = Math.LOG2E;
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
const POLYNOMIAL = [
  0.16666666666666602, -0.0027777777777015593, 6.613756321437934e-5, -1.6533902205465252e-6,
  4.1381367970572385e-8,
] as const;
/** Smallest double that fdlibm reduces: its high word is the first above that of half of ln 2, its low word is 0. */
const MIN_REDUCED = 0.3465738296508789;
const MIN_POLYNOMIAL = 2 ** -28;
/** Smaller arguments have a subnormal power of two. */
const MIN_EXPONENT = -700;
const EXPONENT_BIAS = 1023;
const MANTISSA_BITS = 52;

type Vectors = Readonly<Record<'x' | 'times' | 'high' | 'low' | 'square' | 'rest' | 'power', Variable>>;

/** e^x of two values from `MIN_EXPONENT` to `MAX_MARGIN` into `x`: the bits of Math.exp. */
function exponentials({ x, times, high, low, square, rest, power }: Vectors): Code[] {
  const splat = (value: number) => f64x2.splat(value);
  const { add, sub, mul, div } = f64x2;
  const [p1, p2, p3, p4, p5] = POLYNOMIAL;
  const half = v128.or(v128.and(x, splat(-0)), splat(0.5));
  const isReduced = f64x2.ge(f64x2.abs(x), splat(MIN_REDUCED));
  const series = [p4, p3, p2, p1].reduce<Code>((sum, p) => add(splat(p), mul(square, sum)), splat(p5));
  return [
    times.set(v128.and(f64x2.trunc(add(mul(x, splat(INVERSE_LN2)), half)), isReduced)),
    high.set(sub(x, mul(times, splat(LN2_HIGH)))),
    low.set(mul(times, splat(LN2_LOW))),
    rest.set(sub(high, low)),
    square.set(mul(rest, rest)),
    // c of fdlibm, in the variable of the power until that is known.
    power.set(sub(rest, mul(square, series))),
    low.set(sub(splat(1), sub(sub(low, div(mul(rest, power), sub(splat(2), power))), high))),
    power.set(
      i64x2.shl(i64x2.add(i64x2.ofLowI32x4(i32x4.ofF64x2(times)), i64x2.splat(EXPONENT_BIAS)), MANTISSA_BITS),
    ),
    low.set(mul(low, power)),
    low.set(v128.select(add(splat(1), x), low, f64x2.lt(f64x2.abs(x), splat(MIN_POLYNOMIAL)))),
    // V8 returns the nearest double for 1.
    x.set(v128.select(splat(Math.E), low, f64x2.eq(x, splat(1)))),
  ];
}

/**
 * Fills the exact derivatives of the weighted log loss at the scores (log-odds), and returns the sum of the weighted losses.
 * With e = exp(-margin), margin the score of the actual label: loss = log(1 + e), |gradient| = e / (1 + e), hessian =
 * e / (1 + e)^2. Rows are added in order. `RESULTS` gets the sums of |gradient| and of the hessian.
 *
 * Parameters: `signs` is 1 for label 0 and -1 for label 1. All arrays are doubles, with room for an even number of rows.
 * `terms` gets 1 + e.
 */
export const computeGradients = define(
  {
    scores: 'i32',
    signs: 'i32',
    weights: 'i32',
    gradient: 'i32',
    hessian: 'i32',
    terms: 'i32',
    rows: 'i32',
  },
  {
    at: 'i32',
    end: 'i32',
    sign: 'v128',
    x: 'v128',
    times: 'v128',
    high: 'v128',
    low: 'v128',
    square: 'v128',
    rest: 'v128',
    power: 'v128',
    loss: 'f64',
    product: 'f64',
    weight: 'f64',
    productWeight: 'f64',
    gradientSum: 'f64',
    hessianSum: 'f64',
  },
  'f64',
  (v) => {
    const of = (array: Variable): Code => i32.add(array, v.at);
    const exp = (lane: number): Code => call(EXP, 'f64', f64x2.lane(v.sign, lane));
    const addLoss = v.loss.set(f64.add(v.loss, f64.mul(v.productWeight, call(LOG, 'f64', v.product))));
    return [
      v.end.set(i32.shl(v.rows, 3)),
      range(
        v.at,
        0,
        v.end,
        16,
        v.x.set(
          f64x2.min(f64x2.mul(v128.load(of(v.signs)), v128.load(of(v.scores))), f64x2.splat(MAX_MARGIN)),
        ),
        v.sign.set(v.x),
        ...exponentials(v),
        when(
          // Not a comparison with "less than", so that NaN is in it.
          v128.isAny(
            v128.andNot(
              f64x2.eq(f64x2.splat(0), f64x2.splat(0)),
              f64x2.ge(v.sign, f64x2.splat(MIN_EXPONENT)),
            ),
          ),
          f64.store(RESULTS, exp(0)),
          f64.store(RESULTS, exp(1), 8),
          v.x.set(v128.load(RESULTS)),
        ),
        v.high.set(f64x2.add(f64x2.splat(1), v.x)),
        v128.store(of(v.terms), v.high),
        v.rest.set(f64x2.div(v.x, v.high)),
        v.low.set(v128.load(of(v.weights))),
        v128.store(of(v.gradient), f64x2.mul(f64x2.mul(v128.load(of(v.signs)), v.low), v.rest)),
        v128.store(
          of(v.hessian),
          f64x2.max(f64x2.div(f64x2.mul(v.low, v.rest), v.high), f64x2.splat(MIN_HESSIAN)),
        ),
      ),
      // Rows of the same weight share one logarithm, of the product of their terms.
      v.product.set(1),
      range(
        v.at,
        0,
        v.end,
        8,
        v.weight.set(f64.load(of(v.weights))),
        when(
          i32.or(f64.ne(v.weight, v.productWeight), f64.gt(v.product, MAX_PRODUCT)),
          addLoss,
          v.product.set(1),
          v.productWeight.set(v.weight),
        ),
        v.product.set(f64.mul(v.product, f64.load(of(v.terms)))),
        v.gradientSum.set(f64.add(v.gradientSum, f64.abs(f64.load(of(v.gradient))))),
        v.hessianSum.set(f64.add(v.hessianSum, f64.load(of(v.hessian)))),
      ),
      f64.store(RESULTS, v.gradientSum),
      f64.store(RESULTS, v.hessianSum, 8),
      addLoss,
      v.loss.get,
    ];
  },
);

/** Bits of the hessian in a packed gradient. */
export const HESSIAN_BITS = 26;

/** Packs the derivatives in these units: gradient * 2^26 + hessian, as integers of 64 bits. */
export const packGradients = define(
  {
    gradient: 'i32',
    hessian: 'i32',
    packed: 'i32',
    rows: 'i32',
    gradientUnits: 'f64',
    hessianUnits: 'f64',
  },
  { at: 'i32' },
  null,
  (v) => {
    const rounded = (array: Variable, units: Operand): Code =>
      i64x2.ofLowI32x4(
        i32x4.ofF64x2(
          f64x2.floor(
            f64x2.add(f64x2.mul(v128.load(i32.add(array, v.at)), f64x2.splat(units)), f64x2.splat(0.5)),
          ),
        ),
      );
    return [
      range(
        v.at,
        0,
        i32.shl(v.rows, 3),
        16,
        v128.store(
          i32.add(v.packed, v.at),
          i64x2.add(
            i64x2.shl(rounded(v.gradient, v.gradientUnits), HESSIAN_BITS),
            rounded(v.hessian, v.hessianUnits),
          ),
        ),
      ),
    ];
  },
);

/**
 * Leaf value -rate * G / (H + l2) from the exact derivatives, added up in the order of the rows. Adds it to the rows'
 * scores.
 */
export const finishLeaf = define(
  {
    rows: 'i32',
    count: 'i32',
    gradient: 'i32',
    hessian: 'i32',
    scores: 'i32',
    rate: 'f64',
    l2: 'f64',
  },
  { at: 'i32', end: 'i32', row: 'i32', g: 'f64' },
  'f64',
  (v) => [
    v.end.set(i32.add(v.rows, i32.shl(v.count, 2))),
    range(
      v.at,
      v.rows,
      v.end,
      4,
      v.row.set(i32.shl(i32.load(v.at), 3)),
      v.g.set(f64.add(v.g, f64.load(i32.add(v.gradient, v.row)))),
      v.l2.set(f64.add(v.l2, f64.load(i32.add(v.hessian, v.row)))),
    ),
    v.g.set(f64.div(f64.mul(f64.sub(0, v.rate), v.g), v.l2)),
    when(i32.eqz(f64.gt(v.l2, 0)), v.g.set(0)),
    ...addToRows(v.rows, v.end, v.at, v.scores, v.g),
    v.g.get,
  ],
);

/** Adds a value to the scores of rows. */
export const addToScores = define(
  { rows: 'i32', count: 'i32', scores: 'i32', value: 'f64' },
  { at: 'i32', end: 'i32' },
  null,
  (v) => [
    v.end.set(i32.add(v.rows, i32.shl(v.count, 2))),
    ...addToRows(v.rows, v.end, v.at, v.scores, v.value),
  ],
);

function addToRows(rows: Variable, end: Variable, at: Variable, scores: Variable, value: Variable): Code[] {
  const score = i32.add(scores, i32.shl(i32.load(at), 3));
  return [range(at, rows, end, 4, f64.store(score, f64.add(f64.load(score), value)))];
}

/** Sum of packed gradients, as a double, in `count` bins. */
export const sumBins = define({ bins: 'i32', count: 'i32' }, { at: 'i32', sum: 'i64' }, 'f64', (v) => [
  range(v.at, v.bins, i32.add(v.bins, i32.shl(v.count, 3)), 8, v.sum.set(i64.add(v.sum, i64.load(v.at)))),
  f64.ofI64(v.sum),
]);
