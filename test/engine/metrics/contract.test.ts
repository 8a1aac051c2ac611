import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '#contract/backtests/report.ts';
import {
  AccountMetrics,
  ActivityMetrics,
  ClosedTradeMetrics,
  EquityMetrics,
  TableRow,
} from '#contract/backtests/report-metrics.ts';
import { METRIC_DEFINITIONS } from '#engine/metrics/catalogue.ts';

const definitions: Readonly<Record<string, MetricDefinition>> = METRIC_DEFINITIONS;

describe('metric names in the contract', () => {
  it.each([
    ['account', AccountMetrics],
    ['equity', EquityMetrics],
    ['closed_trades', ClosedTradeMetrics],
    ['activity', ActivityMetrics],
  ] as const)('contract schema of %s has the names, labels and units of the catalogue', (family, schema) => {
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

  it('table columns have the labels of the catalogue', () => {
    for (const [name, field] of Object.entries(TableRow.shape)) {
      if (name !== 'key') expect(field.meta()?.description).toBe(definitions[name]!.label);
    }
  });
});
