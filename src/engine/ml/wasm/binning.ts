import { type Code, define, type Variable } from './assembler.ts';
import { choose, clear, f64, i32, i64, range, repeatWhile, when } from './operations.ts';

const SIGN = -(2n ** 63n);
/** Bytes of the counts of one digit: 256 counts of 4 bytes. */
const DIGIT_COUNTS = 1024;

/** Bytes that `sortValues` needs for its counts. */
export const SORT_COUNTS = 8 * DIGIT_COUNTS;

/** Swaps the values of two variables by way of a third. */
const swap = (a: Variable, b: Variable, spare: Variable): Code[] => [spare.set(a), a.set(b), b.set(spare)];

/**
 * Sorts doubles that are not NaN, -0 before 0, by their bytes from the lowest to the highest (radix sort). Their bits are
 * first changed so that their order is that of unsigned integers. A byte that all values share is skipped.
 *
 * @returns the address of the sorted values: `from` or `spare`
 */
export const sortValues = define(
  { from: 'i32', spare: 'i32', count: 'i32', counts: 'i32' },
  { at: 'i32', slot: 'i32', table: 'i32', to: 'i32', swapped: 'i32', key: 'i64', shift: 'i64' },
  'i32',
  (v) => {
    const slotOf = (table: Code, shift: Variable): Code =>
      i32.add(table, i32.shl(i32.and(i32.wrap(i64.shrU(v.key, shift)), 255), 2));
    const end = i32.add(v.from, i32.shl(v.count, 3));
    return [
      clear(v.counts, SORT_COUNTS),
      range(
        v.at,
        v.from,
        end,
        8,
        v.key.set(i64.load(v.at)),
        v.key.set(i64.xor(v.key, i64.or(i64.shrS(v.key, 63), SIGN))),
        i64.store(v.at, v.key),
        v.shift.set(0),
        v.table.set(v.counts),
        repeatWhile(
          i32.ltU(v.table, i32.add(v.counts, SORT_COUNTS)),
          v.slot.set(slotOf(v.table.get, v.shift)),
          i32.store(v.slot, i32.add(i32.load(v.slot), 1)),
          v.shift.set(i64.add(v.shift, 8)),
          v.table.set(i32.add(v.table, DIGIT_COUNTS)),
        ),
      ),
      v.shift.set(0),
      range(
        v.table,
        v.counts,
        i32.add(v.counts, SORT_COUNTS),
        DIGIT_COUNTS,
        v.key.set(i64.load(v.from)),
        when(
          i32.ne(i32.load(slotOf(v.table.get, v.shift)), v.count),
          // Counts become the addresses of each digit's first value.
          v.to.set(v.spare),
          range(
            v.slot,
            v.table,
            i32.add(v.table, DIGIT_COUNTS),
            4,
            v.at.set(i32.load(v.slot)),
            i32.store(v.slot, v.to),
            v.to.set(i32.add(v.to, i32.shl(v.at, 3))),
          ),
          range(
            v.at,
            v.from,
            end,
            8,
            v.key.set(i64.load(v.at)),
            v.slot.set(slotOf(v.table.get, v.shift)),
            v.to.set(i32.load(v.slot)),
            i64.store(v.to, v.key),
            i32.store(v.slot, i32.add(v.to, 8)),
          ),
          ...swap(v.from, v.spare, v.swapped),
        ),
        v.shift.set(i64.add(v.shift, 8)),
      ),
      range(
        v.at,
        v.from,
        end,
        8,
        v.key.set(i64.load(v.at)),
        i64.store(v.at, i64.xor(v.key, i64.or(i64.xor(i64.shrS(v.key, 63), -1), SIGN))),
      ),
      v.from.get,
    ];
  },
);

/** Values whose searches run side by side: the steps of one search depend on each other. */
const SEARCHES = [0, 1, 2, 3] as const;

/**
 * Writes the bin of each value as a byte: the number of cuts below it, plus `shift`; `missing` for NaN. Both arrays have
 * room for a multiple of four values.
 *
 * Parameters: `cuts` is the address of 2^n - 1 ascending cuts, `half` is 2^(n-1) times 8, or 0 without cuts.
 */
export const binValues = define(
  { values: 'i32', count: 'i32', cuts: 'i32', half: 'i32', shift: 'i32', missing: 'i32', into: 'i32' },
  {
    end: 'i32',
    step: 'i32',
    bin0: 'i32',
    bin1: 'i32',
    bin2: 'i32',
    bin3: 'i32',
    value0: 'f64',
    value1: 'f64',
    value2: 'f64',
    value3: 'f64',
  },
  null,
  (v) => {
    const searches = SEARCHES.map((k) => ({ k, bin: v[`bin${k}`], value: v[`value${k}`] }));
    return [
      v.cuts.set(i32.sub(v.cuts, 8)),
      v.end.set(i32.add(v.into, v.count)),
      range(
        v.into,
        v.into,
        v.end,
        SEARCHES.length,
        ...searches.flatMap(({ k, bin, value }) => [value.set(f64.load(v.values, 8 * k)), bin.set(0)]),
        v.step.set(v.half),
        when(
          v.step,
          repeatWhile(
            i32.ne(v.step, 4),
            // Without a branch, because the comparison is unpredictable.
            ...searches.map(({ bin, value }) => {
              const isBelow = f64.lt(f64.load(i32.add(v.cuts, i32.add(bin, v.step))), value);
              return bin.set(i32.add(bin, i32.and(v.step, i32.sub(0, isBelow))));
            }),
            v.step.set(i32.shrU(v.step, 1)),
          ),
        ),
        ...searches.map(({ k, bin, value }) =>
          i32.store8(
            v.into,
            choose('i32', v.missing, i32.add(i32.shrU(bin, 3), v.shift), f64.ne(value, value)),
            k,
          ),
        ),
        v.values.set(i32.add(v.values, 8 * SEARCHES.length)),
      ),
    ];
  },
);
