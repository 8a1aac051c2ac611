/**
 * Timeframes that a request may have: those of every strategy, and the one that this strategy declares as its own. A chosen one
 * stays, so that the form shows what it sends after another strategy was chosen.
 */
export function timeframesOf(
  common: readonly string[],
  own: string | undefined,
  chosen: string | undefined,
): readonly string[] {
  return [...new Set([...common, ...[own, chosen].filter((each) => each !== undefined)])];
}
