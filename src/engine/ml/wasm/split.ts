import { type Code, define, type Operand, type Variable } from './assembler.ts';
import { HESSIAN_BITS, RESULTS } from './gradients.ts';
import { TABLE_AT, TABLE_MISSING, TABLE_PRESENT, TABLE_STEP } from './histogram.ts';
import { choose, f32x4, f64, f64x2, i32, i32x4, i64, i64x2, range, v128, when } from './operations.ts';

const HESSIAN_MASK = 2 ** HESSIAN_BITS - 1;

/** Places of the best split in `RESULTS`: doubles. */
export const SPLIT_ABOVE = 0;
export const SPLIT_BELOW = 1;
export const SPLIT_LEFT = 2;
/** Places of the best split in `RESULTS`: words of four bytes. */
export const SPLIT_COLUMN = 6;
export const SPLIT_BIN = 7;
export const SPLIT_MISSING_LEFT = 8;

/** Single precision loses less than 1e-6 of a score. So a bin that is this much worse need not be computed exactly. */
const SURELY_WORSE = 1 - 1e-5;
/** Below it single precision is coarser. */
const MIN_SCORE = 1e-30;

const LOW_HALVES = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
const UPPER_OF_FIRST = [8, 9, 10, 11, 12, 13, 14, 15];
/** 0, then the lower number of the second vector, given a first vector of 0. */
const SHIFT_UP = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

const upperTwice = (vector: Operand): Code =>
  v128.shuffle(vector, vector, [...UPPER_OF_FIRST, ...UPPER_OF_FIRST]);
/** Running sums of two bins, from that before them. */
const runningSums = (added: Variable, zero: Operand, before: Operand): Code =>
  i64x2.add(i64x2.add(added, v128.shuffle(zero, added, SHIFT_UP)), before);

/**
 * Looks for the split of a node with the largest score of its children. Ties: lower column, then missing values to the
 * right, then lower bin. A split without rows on one side is not considered. Scores are compared as fractions: no division
 * per bin, and equal splits compare equal. Four bins at a time are first compared in single precision, which excludes nearly
 * all of them.
 *
 * Parameters: `total` is the sum of the packed gradients; the score must be above `above`. The result is at `RESULTS`; its
 * column stays -1 without a split.
 */
export const findSplit = define(
  {
    histogram: 'i32',
    table: 'i32',
    columns: 'i32',
    total: 'f64',
    above: 'f64',
    l2: 'f64',
    minChild: 'f64',
  },
  {
    column: 'i32',
    from: 'i32',
    end: 'i32',
    at: 'i32',
    bin: 'i32',
    isLast: 'i32',
    below: 'f64',
    limit: 'f64',
    g: 'f64',
    h: 'f64',
    otherG: 'f64',
    otherH: 'f64',
    weight: 'f64',
    otherWeight: 'f64',
    score: 'f64',
    packed: 'i64',
    left: 'i64',
    start: 'i64',
    totalG: 'v128',
    totalH: 'v128',
    least: 'v128',
    penalty: 'v128',
    bound: 'v128',
    zero: 'v128',
    before: 'v128',
    first: 'v128',
    second: 'v128',
    gs: 'v128',
    hs: 'v128',
    otherHs: 'v128',
    weights: 'v128',
    otherWeights: 'v128',
    otherGs: 'v128',
  },
  null,
  (v) => {
    const gradientOf = (packed: Operand): Code => f64.ofI64(i64.shrS(packed, HESSIAN_BITS));
    const hessianOf = (packed: Operand): Code => f64.ofI64(i64.and(packed, HESSIAN_MASK));
    const setBound: Code[] = [
      v.limit.set(f64.mul(f64.div(v.above, v.below), SURELY_WORSE)),
      v.bound.set(f32x4.splat(choose('f64', v.limit, 0, f64.gt(v.limit, MIN_SCORE)))),
    ];
    const exactBin = [
      v.g.set(gradientOf(v.left)),
      v.h.set(hessianOf(v.left)),
      v.otherG.set(f64.sub(gradientOf(v.packed), v.g)),
      v.otherH.set(f64.sub(hessianOf(v.packed), v.h)),
      when(
        i32.and(f64.ge(v.h, v.minChild), f64.ge(v.otherH, v.minChild)),
        v.weight.set(f64.add(v.h, v.l2)),
        v.otherWeight.set(f64.add(v.otherH, v.l2)),
        v.score.set(
          f64.add(f64.mul(f64.mul(v.g, v.g), v.otherWeight), f64.mul(f64.mul(v.otherG, v.otherG), v.weight)),
        ),
        v.weight.set(f64.mul(v.weight, v.otherWeight)),
        when(
          f64.gt(f64.mul(v.score, v.below), f64.mul(v.above, v.weight)),
          v.above.set(v.score),
          v.below.set(v.weight),
          ...setBound,
          f64.store(RESULTS, f64.ofI64(v.left), 8 * SPLIT_LEFT),
          i32.store(RESULTS, v.column, 4 * SPLIT_COLUMN),
          i32.store(RESULTS, i32.shrU(i32.sub(v.bin, v.from), 3), 4 * SPLIT_BIN),
          i32.store(RESULTS, v.isLast, 4 * SPLIT_MISSING_LEFT),
        ),
      ),
    ];
    const exactBins = [
      v.left.set(i64x2.lane(v.before, 0)),
      range(
        v.bin,
        v.at,
        choose('i32', i32.add(v.at, 32), v.end, i32.ltU(i32.add(v.at, 32), v.end)),
        8,
        // A bin without rows gives the same split as the bin before it.
        when(i32.eqz(i64.eqz(i64.load(v.bin))), v.left.set(i64.add(v.left, i64.load(v.bin))), ...exactBin),
      ),
    ];
    const couldBeBetter = (): Code => {
      const { add, mul } = f32x4;
      const score = add(mul(mul(v.gs, v.gs), v.otherWeights), mul(mul(v.otherGs, v.otherGs), v.weights));
      const worse = f32x4.lt(score, mul(v.bound, mul(v.weights, v.otherWeights)));
      return v128.isAny(
        v128.andNot(v128.and(i32x4.geS(v.hs, v.least), i32x4.geS(v.otherHs, v.least)), worse),
      );
    };
    const scan = [
      v.before.set(i64x2.splat(v.start)),
      range(
        v.at,
        v.from,
        v.end,
        32,
        v.first.set(v128.load(v.at)),
        v.second.set(v128.load(v.at, 16)),
        v.first.set(runningSums(v.first, v.zero, v.before)),
        v.second.set(runningSums(v.second, v.zero, upperTwice(v.first))),
        v.gs.set(
          v128.shuffle(i64x2.shrU(v.first, HESSIAN_BITS), i64x2.shrU(v.second, HESSIAN_BITS), LOW_HALVES),
        ),
        v.hs.set(v128.and(v128.shuffle(v.first, v.second, LOW_HALVES), i32x4.splat(HESSIAN_MASK))),
        v.otherGs.set(f32x4.ofI32x4(i32x4.sub(v.totalG, v.gs))),
        v.gs.set(f32x4.ofI32x4(v.gs)),
        v.otherHs.set(i32x4.sub(v.totalH, v.hs)),
        v.weights.set(f32x4.add(f32x4.ofI32x4(v.hs), v.penalty)),
        v.otherWeights.set(f32x4.add(f32x4.ofI32x4(v.otherHs), v.penalty)),
        when(couldBeBetter(), ...exactBins),
        v.before.set(upperTwice(v.second)),
      ),
    ];
    return [
      v.packed.set(i64.truncate(v.total)),
      v.totalG.set(i32x4.splat(i32.wrap(i64.shrS(v.packed, HESSIAN_BITS)))),
      v.totalH.set(i32x4.splat(i32.and(i32.wrap(v.packed), HESSIAN_MASK))),
      // Rounded down, and to at most 2^31 - 1.
      v.least.set(i32x4.splat(i32x4.lane(i32x4.ofF64x2(f64x2.splat(v.minChild)), 0))),
      v.penalty.set(f32x4.splat(v.l2)),
      v.below.set(1),
      ...setBound,
      i32.store(RESULTS, -1, 4 * SPLIT_COLUMN),
      range(
        v.column,
        0,
        v.columns,
        1,
        v.from.set(i32.add(v.histogram, i32.load(v.table, TABLE_AT))),
        v.end.set(i32.add(v.from, i32.load(v.table, TABLE_PRESENT))),
        v.start.set(0),
        v.isLast.set(0),
        ...scan,
        // Then with the missing values on the left.
        v.start.set(i64.load(v.end)),
        v.isLast.set(1),
        when(i32.eqz(i64.eqz(v.start)), ...scan),
        v.table.set(i32.add(v.table, TABLE_STEP)),
      ),
      f64.store(RESULTS, v.above, 8 * SPLIT_ABOVE),
      f64.store(RESULTS, v.below, 8 * SPLIT_BELOW),
    ];
  },
);

/**
 * Adds to each bin of `right` (missing values on the right) and `left` the gain of a node's split there: the children's
 * scores minus `minScore`. A split with a child that is too small adds nothing. `left` is filled only for features with
 * missing values.
 */
export const addGains = define(
  {
    histogram: 'i32',
    table: 'i32',
    columns: 'i32',
    total: 'f64',
    minScore: 'f64',
    l2: 'f64',
    minChild: 'f64',
    right: 'i32',
    left: 'i32',
  },
  {
    end: 'i32',
    at: 'i32',
    into: 'i32',
    stop: 'i32',
    packed: 'i64',
    sums: 'v128',
    zero: 'v128',
    before: 'v128',
    g: 'v128',
    h: 'v128',
    otherG: 'v128',
    otherH: 'v128',
    weight: 'v128',
    otherWeight: 'v128',
    gain: 'v128',
  },
  null,
  (v) => {
    const { add, sub, mul, div } = f64x2;
    const low = (vector: Operand): Code => v128.shuffle(vector, vector, LOW_HALVES);
    const mask = i64x2.splat(HESSIAN_MASK);
    const total = (part: Code): Code => f64x2.splat(f64.ofI64(part));
    const scan = [
      v.at.set(i32.add(v.histogram, i32.load(v.table, TABLE_AT))),
      v.stop.set(i32.add(v.at, i32.load(v.table, TABLE_PRESENT))),
      v.into.set(i32.add(v.into, i32.load(v.table, TABLE_AT))),
      range(
        v.at,
        v.at,
        v.stop,
        16,
        v.sums.set(v128.load(v.at)),
        v.sums.set(runningSums(v.sums, v.zero, v.before)),
        v.g.set(f64x2.ofLowI32x4(low(i64x2.shrU(v.sums, HESSIAN_BITS)))),
        v.h.set(f64x2.ofLowI32x4(low(v128.and(v.sums, mask)))),
        v.otherG.set(sub(total(i64.shrS(v.packed, HESSIAN_BITS)), v.g)),
        v.otherH.set(sub(total(i64.and(v.packed, HESSIAN_MASK)), v.h)),
        v.weight.set(add(v.h, f64x2.splat(v.l2))),
        v.otherWeight.set(add(v.otherH, f64x2.splat(v.l2))),
        v.gain.set(
          sub(
            div(
              add(mul(mul(v.g, v.g), v.otherWeight), mul(mul(v.otherG, v.otherG), v.weight)),
              mul(v.weight, v.otherWeight),
            ),
            f64x2.splat(v.minScore),
          ),
        ),
        v.gain.set(
          v128.and(
            v.gain,
            v128.and(f64x2.ge(v.h, f64x2.splat(v.minChild)), f64x2.ge(v.otherH, f64x2.splat(v.minChild))),
          ),
        ),
        v128.store(v.into, add(v128.load(v.into), v.gain)),
        v.before.set(upperTwice(v.sums)),
        v.into.set(i32.add(v.into, 16)),
      ),
    ];
    return [
      v.packed.set(i64.truncate(v.total)),
      v.end.set(i32.add(v.table, i32.mul(v.columns, TABLE_STEP))),
      range(
        v.table,
        v.table,
        v.end,
        TABLE_STEP,
        v.before.set(v.zero),
        v.into.set(v.right),
        ...scan,
        when(
          i32.load(v.table, TABLE_MISSING),
          v.before.set(i64x2.splat(i64.load(v.stop))),
          v.into.set(v.left),
          ...scan,
        ),
      ),
    ];
  },
);
