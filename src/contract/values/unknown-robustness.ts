interface WithReason {
  /** Why the figures are null; null where they are known. */
  readonly reason: string | null;
}

/** The parts of a robustness section that may be unknown. */
interface RobustnessReasons {
  readonly benchmarks: readonly (WithReason & { readonly benchmark: string })[];
  readonly regimes: WithReason;
  readonly bootstrap: WithReason;
  readonly random_entries?: WithReason | undefined;
  readonly permutations?: WithReason | undefined;
}

/**
 * What a robustness section does not know, a sentence with the names of its parts for each reason. The break-even cost is in its
 * findings.
 */
export function unknownRobustness(section: RobustnessReasons): string[] {
  const { benchmarks, regimes, bootstrap, random_entries, permutations } = section;
  const parts: (readonly [name: string, reason: string | null | undefined])[] = [
    ...benchmarks.map(
      ({ benchmark, reason }) =>
        [benchmark === 'btc' ? 'alpha against bitcoin' : 'alpha against all pairs', reason] as const,
    ),
    ['regimes', regimes.reason],
    ['bootstrap', bootstrap.reason],
    ['random entries', random_entries?.reason],
    ['permutations', permutations?.reason],
  ];
  const names = new Map<string, string[]>();
  for (const [name, reason] of parts) {
    if (reason) names.set(reason, [...(names.get(reason) ?? []), name]);
  }
  return [...names].map(([reason, of]) => `Not known: ${of.join(', ')}. ${reason}`);
}
