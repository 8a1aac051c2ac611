import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '#contract/report.ts';
import {
  AccountMetrics,
  ActivityMetrics,
  ClosedTradeMetrics,
  EquityMetrics,
  TableRow,
} from '#contract/report-metrics.ts';
import { METRIC_DEFINITIONS } from '#engine/metrics/catalogue.ts';

const definitions: Readonly<Record<string, MetricDefinition>> = METRIC_DEFINITIONS;

describe('the contract names each metric as the catalogue does', () => {
  it.each([
    ['account', AccountMetrics],
    ['equity', EquityMetrics],
    ['closed_trades', ClosedTradeMetrics],
    ['activity', ActivityMetrics],
  ] as const)('%s', (family, schema) => {
    const contract = Object.entries(schema.shape).map(([name, field]) => [
      name,
      field.meta()?.description,
      field.meta()?.['x-unit'],
    ]);
    const catalogue = Object.entries(definitions)
      .filter(([, definition]) => definition.family === family)
      .map(([name, definition]) => [name, definition.label, definition.unit]);
    expect(contract.sort()).toEqual(catalogue.sort());
  });

  it('columns of the tables', () => {
    for (const [name, field] of Object.entries(TableRow.shape)) {
      if (name !== 'key') expect(field.meta()?.description).toBe(definitions[name]!.label);
    }
  });
});
