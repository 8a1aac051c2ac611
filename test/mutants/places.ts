/** The places where a source can be changed so that it still parses, and the choice among them. */
import { createHash } from 'node:crypto';
import { parseSync, Visitor } from 'oxc-parser';

export interface Place {
  readonly file: string;
  readonly kind: 'compare' | 'constant' | 'drop';
  readonly before: string;
  readonly after: string;
  /** The line of the place and the one before it, trimmed: they find it again after others have changed. */
  readonly text: string;
  readonly previous: string;
  /** Index among the places of the file that are equal in all of the above. */
  readonly nth: number;
}

/** A place in the present source, from `start` to `end`. */
export interface Mutant extends Place {
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** An order changes at its bound, which is what a test forgets first. */
const FLIPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
/** A longer statement is more than a line that somebody forgot. */
const MAX_LINES = 3;

const keyOf = ({ kind, before, text, previous }: Omit<Place, 'nth'>) =>
  `${kind} ${before} ${text} ${previous}`;

/** All mutants of a source. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const found: Mutant[] = [];
  const typeEnds = new Set<number>();
  const lines = source.split('\n').map((line) => line.trim());
  const add = (kind: Place['kind'], start: number, end: number, after: string) => {
    const line = source.slice(0, start).split('\n').length;
    const previous = lines.slice(0, line - 1).findLast((text) => text !== '') ?? '';
    const place = { file, kind, before: source.slice(start, end), after, text: lines[line - 1]!, previous };
    const nth = found.filter((each) => keyOf(each) === keyOf(place)).length;
    found.push({ ...place, nth, line, start, end });
  };
  const drop = ({ start, end }: { start: number; end: number }) => {
    if (source.slice(start, end).split('\n').length <= MAX_LINES) add('drop', start, end, ';');
  };
  new Visitor({
    TSLiteralType: ({ literal }) => typeEnds.add(literal.end),
    BinaryExpression({ left, operator, right }) {
      const after = FLIPPED[operator];
      const start = source.indexOf(operator, left.end);
      if (after && start < right.start) add('compare', start, start + operator.length, after);
    },
    Literal({ value, start, end }) {
      if (typeEnds.has(end)) return;
      if (typeof value === 'boolean') add('constant', start, end, String(!value));
      if (typeof value === 'number' && value + 1 !== value) add('constant', start, end, String(value + 1));
    },
    ExpressionStatement: drop,
    IfStatement: (node) => node.alternate ?? drop(node),
  }).visit(parseSync(file, source).program);
  return found;
}

export const mutate = (source: string, { start, end, after }: Mutant): string =>
  source.slice(0, start) + after + source.slice(end);

/**
 * Takes as many of each layer and kind, in an order that only the seed and the text of each place determine: other changes of the
 * sources leave most of the choice as it was.
 */
export function choose(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const rankOf = (mutant: Mutant) =>
    createHash('sha256')
      .update(`${seed} ${mutant.file} ${mutant.nth} ${keyOf(mutant)}`)
      .digest('hex');
  const ranked = mutants.map((mutant) => ({ mutant, rank: rankOf(mutant) }));
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const groups = Map.groupBy(ranked, ({ mutant }) => `${mutant.file.split('/')[1]} ${mutant.kind}`);
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
  return Array.from({ length: count }, (_, round) => sorted.flatMap((group) => group[round]?.mutant ?? []))
    .flat()
    .slice(0, count);
}

/**
 * The present mutant of a saved place: in its file, else the only one elsewhere with the same change of the same line. Undefined
 * where that line no longer exists.
 */
export function find(place: Place, mutants: readonly Mutant[]): Mutant | undefined {
  const { kind, before, after, text } = place;
  const same = mutants.filter(
    (each) => each.kind === kind && each.before === before && each.after === after && each.text === text,
  );
  const likeness = ({ file, previous, nth }: Mutant) =>
    4 * Number(file === place.file) + 2 * Number(previous === place.previous) + Number(nth === place.nth);
  const best = Math.max(...same.map(likeness));
  const alike = same.filter((each) => likeness(each) === best);
  return best >= 4 || alike.length === 1 ? alike[0] : undefined;
}
