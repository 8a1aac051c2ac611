import { readFileSync } from 'node:fs';
import jsTokens from 'js-tokens';

/** Tokens of each top folder's code, without tests. A commit that raises one says why. */
const BUDGET = 'size-budget.json';
/** A folder may exceed its budget by this share: small changes need no new figure. */
const SLACK = 0.02;

/** Folders whose code has more tokens than their budget, one line each, and budgets of folders without code. */
export function sizeProblems(files: readonly string[]): string[] {
  const budget: Readonly<Record<string, number>> = JSON.parse(readFileSync(BUDGET, 'utf8'));
  const sizes = sizesOf(files);
  const folders = [...new Set([...sizes.keys(), ...Object.keys(budget)])].sort();
  return folders.flatMap((folder) => {
    const [size, most] = [sizes.get(folder), budget[folder]];
    if (size === undefined) return [`${BUDGET} has a budget for ${folder}, which has no code: remove it`];
    if (most === undefined) return [`${folder} has ${size} tokens and no budget: add it to ${BUDGET}`];
    if (size <= most * (1 + SLACK)) return [];
    const excess = ((size / most - 1) * 100).toFixed(1);
    return [
      `${folder} has ${size} tokens, ${excess} % more than its budget of ${most}: delete what is not needed, or raise ${BUDGET} and say why in the commit`,
    ];
  });
}

/** Tokens per top folder. Tests and files at the top have no budget. */
function sizesOf(files: readonly string[]): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const file of files) {
    const [folder, inside] = file.split('/') as [string, string | undefined];
    if (inside === undefined || folder === 'test') continue;
    sizes.set(folder, (sizes.get(folder) ?? 0) + tokensOf(file));
  }
  return sizes;
}

/** Tokens that are no code. */
const BETWEEN = new Set(['WhiteSpace', 'LineTerminatorSequence', 'SingleLineComment', 'MultiLineComment']);

/** Tokens, because lines would reward packing: names, literals, keywords and punctuation, without comments. */
function tokensOf(file: string): number {
  let count = 0;
  for (const { type } of jsTokens(readFileSync(file, 'utf8'), { jsx: file.endsWith('.tsx') })) {
    if (!BETWEEN.has(type)) count++;
  }
  return count;
}
