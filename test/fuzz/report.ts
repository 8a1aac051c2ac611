import { table } from '../../bin/cli/output.ts';
import type { Breach, CampaignResult, Counts } from './campaign.ts';

/** Table of responses by operation and status. */
export function countsTable(results: readonly CampaignResult[]): string {
  const counts = mergeCounts(results);
  const statuses = [...new Set([...counts.values()].flatMap((each) => [...each.keys()]))].sort(
    (a, b) => a - b,
  );
  const rows = [...counts].map(([id, each]) => [
    id,
    [...each.values()].reduce((sum, count) => sum + count, 0),
    ...statuses.map((status) => each.get(status) ?? null),
  ]);
  return table(['operation', 'requests', ...statuses.map(String)], rows);
}

/** Operations without a successful request. */
export function neverSucceeded(results: readonly CampaignResult[]): string[] {
  return [...mergeCounts(results)]
    .filter(([, counts]) => ![...counts.keys()].some((status) => status < 300))
    .map(([id]) => id);
}

function mergeCounts(results: readonly CampaignResult[]): Map<string, Counts> {
  const merged = new Map<string, Counts>();
  for (const [id, counts] of results.flatMap((result) => [...result.counts])) {
    const sum = merged.get(id) ?? new Map<number, number>();
    for (const [status, count] of counts) sum.set(status, (sum.get(status) ?? 0) + count);
    merged.set(id, sum);
  }
  return merged;
}

/** Breach with the command that repeats its request. */
export function describeBreach({ operation, kind, index, problems, curl, response }: Breach): string {
  return [
    `${operation} (${kind}, request ${index})`,
    ...problems.map((each) => `  ${each}`),
    `  ${response}`,
    `  ${curl}`,
  ].join('\n');
}
