import type { VersionComparison } from '#contract/catalog-api.ts';
import type { ApiClient } from './client.ts';
import { number, percent, table } from './format.ts';

/** Compares two versions and prints metrics, guardrails and the decision. */
export async function compareVersions(
  client: ApiClient,
  model: string,
  champion: string,
  challenger: string,
): Promise<void> {
  const query = new URLSearchParams({ version_a: champion, version_b: challenger });
  const comparison = await client.get<VersionComparison>(
    `/api/v1/catalog/strategies/${encodeURIComponent(model)}/compare?${query}`,
  );
  console.log(metricTable(comparison));
  console.log(guardrailTable(comparison));
  for (const { field, a, b } of comparison.differences) console.log(`Different ${field}: ${a} and ${b}`);
  for (const warning of comparison.warnings) console.log(`Warning: ${warning}`);
  console.log(
    `${comparison.decision}, confidence ${number(comparison.confidence)} (${methodOf(comparison)})`,
  );
  console.log(comparison.recommendation);
}

function methodOf({ confidence_method, sample_sizes }: VersionComparison): string {
  return confidence_method === 'welch'
    ? `Welch's test on ${number(sample_sizes.a, 0)} and ${number(sample_sizes.b, 0)} trades`
    : 'share of metrics that agree: too few trades for a test';
}

const VERDICTS = { '-1': 'worse', '0': 'same', '1': 'better' } as const;
const NOTES = {
  baseline_near_zero: 'a is 0: the percentage means its direction alone',
  no_losses: 'without losing trades it stands as 999',
} as const;

function metricTable({ metrics, version_a, version_b }: VersionComparison): string {
  return table(
    ['Metric', `a: version ${version_a}`, `b: version ${version_b}`, 'Improvement', 'b is', 'Note'],
    Object.entries(metrics).map(([name, { a, b, improvement, direction, notes }]) => {
      const isCount = direction === 'none';
      return [
        name,
        number(a, isCount ? 0 : 2),
        number(b, isCount ? 0 : 2),
        percent(improvement),
        isCount ? '-' : VERDICTS[`${Math.sign(improvement) as -1 | 0 | 1}`],
        notes.map((note) => NOTES[note]).join('; '),
      ];
    }),
  );
}

function guardrailTable({ guardrails }: VersionComparison): string {
  return table(
    ['Guardrail', 'Status', 'Value', 'Threshold'],
    guardrails.map(({ name, status, value, threshold }) => [name, status, number(value), number(threshold)]),
  );
}
