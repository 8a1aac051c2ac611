import { define, type FunctionSource } from './assembler.ts';
import { copy, i32, i64, i64x2, range, v128 } from './operations.ts';

/** Features whose bins share a word of 64 bits: one load serves as many histograms. */
export const FEATURES_IN_WORD = 8;
/** Fixed area for the sums of one word, cleared between uses. So the address of a bin needs no addition. */
const SUMS = 1024;
/** Bytes from one feature's sums to those of the next: more than 256 bins. Sums of 64 bins never share their low 12 bits. */
const SUMS_STEP = 2560;
export const SUMS_END = SUMS + FEATURES_IN_WORD * SUMS_STEP;

/** Entry of the table of a tree's features: four words of four bytes. */
export const TABLE_STEP = 16;
/** Place of a feature's sums in a histogram, bytes. */
export const TABLE_AT = 0;
/** Length of its sums, bytes: a multiple of 16. */
export const TABLE_LENGTH = 4;
/** Length of the sums of present values, bytes. The sum of missing values follows. */
export const TABLE_PRESENT = 8;
/** 1 if a row has no value. */
export const TABLE_MISSING = 12;

/** Adds the packed gradients of rows to the sums of the first `features` bytes of their word. */
function addRows(features: number, isRange: boolean): FunctionSource {
  return define(
    { words: 'i32', packed: 'i32', rows: 'i32', from: 'i32', to: 'i32' },
    { at: 'i32', row: 'i32', end: 'i32', sum: 'i32', word: 'i64', value: 'i64' },
    null,
    (v) => {
      const step = isRange ? 8 : 4;
      const start = (position: typeof v.from) =>
        isRange ? i32.shl(position, 3) : i32.add(v.rows, i32.shl(position, 2));
      return [
        v.end.set(start(v.to)),
        range(
          v.at,
          start(v.from),
          v.end,
          step,
          ...(isRange ? [] : [v.row.set(i32.shl(i32.load(v.at), 3))]),
          v.word.set(i64.load(i32.add(v.words, isRange ? v.at : v.row))),
          v.value.set(i64.load(i32.add(v.packed, isRange ? v.at : v.row))),
          ...Array.from({ length: features }, (_, k) => {
            const shifted = k === 0 ? i64.shl(v.word, 3) : i64.shrU(v.word, 8 * k - 3);
            const place = SUMS + k * SUMS_STEP;
            return [
              ...v.sum.set(i32.and(i32.wrap(shifted), 0x7f8)),
              ...i64.store(v.sum, i64.add(i64.load(v.sum, place), v.value), place),
            ];
          }),
        ),
      ];
    },
  );
}

const FEATURES = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** By number of features: the function that adds rows of an order, and the one that adds a range of rows. */
export const ADDERS = Object.fromEntries(
  FEATURES.flatMap((features) => [
    [`addRows${features}`, addRows(features, false)],
    [`addRange${features}`, addRows(features, true)],
  ]),
) as Readonly<Record<`add${'Rows' | 'Range'}${(typeof FEATURES)[number]}`, FunctionSource>>;

/**
 * Moves the sums of one word into the histogram `into`, subtracts them from the histogram `parent`, and clears them.
 * `table` is the entry of the word's first feature.
 */
export const takeSums = define(
  { table: 'i32', features: 'i32', into: 'i32', parent: 'i32' },
  { end: 'i32', sums: 'i32', at: 'i32', length: 'i32', start: 'i32', sum: 'v128', zero: 'v128' },
  null,
  (v) => {
    const inParent = i32.add(i32.add(v.parent, v.start), v.at);
    return [
      v.sums.set(SUMS),
      v.end.set(i32.add(v.table, i32.mul(v.features, TABLE_STEP))),
      range(
        v.table,
        v.table,
        v.end,
        TABLE_STEP,
        v.start.set(i32.load(v.table, TABLE_AT)),
        v.length.set(i32.load(v.table, TABLE_LENGTH)),
        range(
          v.at,
          0,
          v.length,
          16,
          v.sum.set(v128.load(i32.add(v.sums, v.at))),
          v128.store(i32.add(v.sums, v.at), v.zero),
          v128.store(i32.add(i32.add(v.into, v.start), v.at), v.sum),
          v128.store(inParent, i64x2.sub(v128.load(inParent), v.sum)),
        ),
        v.sums.set(i32.add(v.sums, SUMS_STEP)),
      ),
    ];
  },
);

/**
 * Moves the rows of [from, to) that go left before those that go right; both keep their order. The bins that go right are
 * first, first + 1, ..., first + span. Returns the position of the first row on the right.
 */
export const partition = define(
  { rows: 'i32', spare: 'i32', from: 'i32', to: 'i32', column: 'i32', first: 'i32', span: 'i32' },
  { at: 'i32', end: 'i32', row: 'i32', left: 'i32', right: 'i32', distance: 'i32', goesLeft: 'i32' },
  'i32',
  (v) => [
    v.left.set(i32.add(v.rows, i32.shl(v.from, 2))),
    v.end.set(i32.add(v.rows, i32.shl(v.to, 2))),
    v.right.set(v.spare),
    range(
      v.at,
      v.left,
      v.end,
      4,
      v.row.set(i32.load(v.at)),
      v.distance.set(i32.sub(i32.load8(i32.add(v.column, v.row)), v.first)),
      // Without a branch, because the side of a row is unpredictable.
      v.goesLeft.set(i32.and(i32.shrU(i32.or(v.distance, i32.sub(v.span, v.distance)), 29), 4)),
      i32.store(v.left, v.row),
      i32.store(v.right, v.row),
      v.left.set(i32.add(v.left, v.goesLeft)),
      v.right.set(i32.sub(i32.add(v.right, 4), v.goesLeft)),
    ),
    copy(v.left, v.spare, i32.sub(v.right, v.spare)),
    i32.shrU(i32.sub(v.left, v.rows), 2),
  ],
);
