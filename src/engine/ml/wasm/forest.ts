import { type Code, define, type Operand, type Variable } from './assembler.ts';
import { f64, i8x16, i32, range, v128, when } from './operations.ts';

/** Rows that are binned and sent through all trees together, so that their bins stay in the processor's cache. */
export const BLOCK_ROWS = 512;
/** Levels of a piece of a tree. */
export const PIECE_LEVELS = 3;
/** Nodes of a piece: its root, their two children, and their four. */
export const PIECE_NODES = 7;
/** Pieces at the bottom of a tree of six levels. */
export const BOTTOM_PIECES = 8;

const NODES = [0, 1, 2, 3, 4, 5, 6] as const;

/**
 * Adds trees to the scores of up to `BLOCK_ROWS` rows. A tree is a word with the number of its bottom pieces, 1 or 8, then
 * the nodes of these pieces, then, of 8, those of the piece above them. A node is a word: its bin in the low byte, the
 * address of its column above it. Every node of a piece is evaluated, for 16 rows at a time: a comparison of bytes, no
 * branch, no dependent load. Bins are signed bytes; larger ones go right.
 *
 * Parameters: addresses of the trees, their leaf values, the end of the trees, 9 x `BLOCK_ROWS` bytes for `found`, and the
 * scores. `bins` is added to the addresses of columns. `rows` is a multiple of 16.
 */
export const addTrees = define(
  { trees: 'i32', end: 'i32', leaves: 'i32', bins: 'i32', rows: 'i32', found: 'i32', scores: 'i32' },
  {
    pieces: 'i32',
    piece: 'i32',
    row: 'i32',
    column0: 'i32',
    column1: 'i32',
    column2: 'i32',
    column3: 'i32',
    column4: 'i32',
    column5: 'i32',
    column6: 'i32',
    bin0: 'v128',
    bin1: 'v128',
    bin2: 'v128',
    bin3: 'v128',
    bin4: 'v128',
    bin5: 'v128',
    bin6: 'v128',
    leaf0: 'v128',
    leaf2: 'v128',
    leaf4: 'v128',
    leaf6: 'v128',
    mask: 'v128',
    into: 'i32',
  },
  null,
  (v) => {
    const loadPiece = NODES.flatMap((k) => [
      v[`column${k}`].set(i32.add(v.bins, i32.shrU(i32.load(v.trees, 4 * k), 8))),
      v[`bin${k}`].set(v128.loadSplat8(v.trees, 4 * k)),
    ]);
    const goesRight = (k: (typeof NODES)[number]): Code =>
      i8x16.gtS(v128.load(i32.add(v[`column${k}`], v.row)), v[`bin${k}`]);
    /** The right value where a row goes right. */
    const pick = (k: (typeof NODES)[number], left: Operand, right: Operand): Code =>
      v128.select(right, left, goesRight(k));
    const tree = (leaf: (pair: number, node: (typeof NODES)[number]) => Code): Code =>
      pick(0, pick(1, leaf(0, 3), leaf(1, 4)), pick(2, leaf(2, 5), leaf(3, 6)));
    const bases: readonly Variable[] = [v.leaf0, v.leaf2, v.leaf4, v.leaf6];
    const below = (index: number): Code => v128.load(i32.add(v.found, v.row), index * BLOCK_ROWS);
    return [
      range(
        v.trees,
        v.trees,
        v.end,
        0,
        v.pieces.set(i32.load(v.trees)),
        v.trees.set(i32.add(v.trees, 4)),
        v.into.set(v.found),
        range(
          v.piece,
          0,
          v.pieces,
          1,
          ...loadPiece,
          ...bases.map((base, pair) =>
            base.set(i8x16.splat(i32.add(i32.mul(v.piece, BOTTOM_PIECES), 2 * pair))),
          ),
          range(
            v.row,
            0,
            v.rows,
            16,
            v128.store(
              i32.add(v.into, v.row),
              // All bits of a byte that is true are 1: -1.
              tree((pair, node) => i8x16.sub(bases[pair]!, goesRight(node))),
            ),
          ),
          v.trees.set(i32.add(v.trees, 4 * PIECE_NODES)),
          v.into.set(i32.add(v.into, BLOCK_ROWS)),
        ),
        when(
          i32.ne(v.pieces, 1),
          ...loadPiece,
          range(
            v.row,
            0,
            v.rows,
            16,
            v128.store(
              i32.add(v.found, v.row),
              tree((pair, node) => pick(node, below(2 * pair), below(2 * pair + 1))),
            ),
          ),
          v.trees.set(i32.add(v.trees, 4 * PIECE_NODES)),
        ),
        v.into.set(v.scores),
        range(
          v.row,
          0,
          v.rows,
          4,
          ...[0, 1, 2, 3].map((k) => {
            const leaf = i32.load8(i32.add(v.found, v.row), k);
            return f64.store(
              v.into,
              f64.add(f64.load(v.into, 8 * k), f64.load(i32.add(v.leaves, i32.shl(leaf, 3)))),
              8 * k,
            );
          }),
          v.into.set(i32.add(v.into, 32)),
        ),
        v.leaves.set(i32.add(v.leaves, i32.mul(v.pieces, 8 * 2 ** PIECE_LEVELS))),
      ),
    ];
  },
);
