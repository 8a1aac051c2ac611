import type { ReportData } from './data.ts';
import { InformativePanel } from './informative-panel.tsx';
import { LocksPanel } from './locks-panel.tsx';
import { ModelsPanel } from './models-panel.tsx';
import { UniversePanel } from './universe-panel.tsx';

/** Panels that few reports have: of runs with protections, models, other series, or pairs chosen over time. */
export function RarePanels({ report }: { readonly report: ReportData }) {
  const { universe, locks, informative, models } = report;
  return (
    <>
      {universe && <UniversePanel universe={universe} />}
      {locks && <LocksPanel locks={locks} />}
      {informative && <InformativePanel series={informative} />}
      {models && <ModelsPanel models={models} />}
    </>
  );
}
