import { CapacityTable } from './capacity-table.tsx';
import type { ReportData } from './data.ts';
import { SweepChart } from './sweep-chart.tsx';

type Robustness = NonNullable<ReportData['robustness']>;

/** The chart and the table of tests that a run makes on request. */
export function RequestedTests(
  props: Pick<Robustness, 'cost_sweep' | 'capacity'> & { readonly currency: string },
) {
  const { cost_sweep: sweep, capacity, currency } = props;
  return (
    <>
      {sweep && <SweepChart cells={sweep.cells} />}
      {capacity && capacity.steps.length > 0 && (
        <>
          <h3 className="report-sub">Capacity{currency && `, wallets in ${currency}`}</h3>
          <CapacityTable steps={capacity.steps} />
        </>
      )}
    </>
  );
}
