/**
 * Known name nearest to `name`, within one edit per three characters and at least one; undefined without one. Case, hyphens
 * and underscores are not edits. Ties go to the earlier name.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  return nearestWithin(Math.max(1, Math.floor(fold(name).length / 3)), name, known);
}

/**
 * Known name of which `name` is a clear misspelling: within one edit, or two from five letters on; undefined without one.
 * Edits are counted as in {@link nearestName}.
 */
export function misspelledName(name: string, known: Iterable<string>): string | undefined {
  return nearestWithin(fold(name).length < 5 ? 1 : 2, name, known);
}

function nearestWithin(edits: number, name: string, known: Iterable<string>): string | undefined {
  const wanted = fold(name);
  let best: string | undefined;
  let bestDistance = edits + 1;
  for (const candidate of known) {
    const folded = fold(candidate);
    // Each character more or less is an edit.
    if (Math.abs(folded.length - wanted.length) >= bestDistance) continue;
    const distance = editDistance(wanted, folded);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/**
 * Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbors that turn `a` into `b`,
 * counted in UTF-16 code units.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j - 1]! + (same ? 0 : 1), last[j]! + 1, row[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
