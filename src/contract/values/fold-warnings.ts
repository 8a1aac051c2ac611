import { SYMBOL } from './trading-modes.ts';

/** Every symbol in a text. */
export const SYMBOLS_IN_TEXT = new RegExp(
  SYMBOL.source.replace(/^\^/, '\\b').replace(/\$$/, '(?![\\w/])'),
  'g',
);
const VALUES = /\d[\w.:-]*/g;

/** Warnings for a reader: those that differ only in the pair, or in the pair and its values, are one with the other pairs. */
export function foldWarnings(warnings: readonly string[]): string[] {
  return [...Map.groupBy(warnings, reasonOf).values()].map((group) => {
    const [first, ...others] = [...new Set(group)];
    if (others.length === 0) return first!;
    const own = symbolsOf(first!)[0]!;
    const hasSameValues = others.every((each) => each.replaceAll(symbolsOf(each)[0]!, own) === first);
    const pairs = others.map((each) => symbolsOf(each)[0]!).join(', ');
    return `${first} The same${hasSameValues ? '' : ', with other values,'} for ${pairs}.`;
  });
}

const symbolsOf = (warning: string): readonly string[] => [...new Set(warning.match(SYMBOLS_IN_TEXT))];

/** The warning without the pair and its values; a warning about no pair or several is a reason of its own. */
function reasonOf(warning: string): string {
  const [symbol, ...others] = symbolsOf(warning);
  if (symbol === undefined || others.length > 0) return warning;
  return warning.replaceAll(symbol, '\0').replaceAll(VALUES, '\0');
}
