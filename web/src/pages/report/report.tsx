import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { currencyOf } from '#contract/values/currency.ts';
import { useCall } from '../../api/queries.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { AssumptionsPanel } from './assumptions-panel.tsx';
import { CostsPanel } from './costs-panel.tsx';
import type { Job } from './data.ts';
import { DrawdownsPanel } from './drawdowns-panel.tsx';
import { EquityPanel } from './equity-panel.tsx';
import { FiguresPanel } from './figures-panel.tsx';
import { MonthsPanel } from './months-panel.tsx';
import { NoticesPanel } from './notices-panel.tsx';
import { ProvenancePanel } from './provenance-panel.tsx';
import { Section, SectionNav } from './section-nav.tsx';
import { TablesPanel } from './tables-panel.tsx';
import { MetricTiles } from './tiles.tsx';
import { TradesSection } from './trades-panel.tsx';

/** Few runs have one of these. */
const RarePanels = lazy(async () => ({ default: (await import('./rare-panels.tsx')).RarePanels }));

/** Below the fold. */
const RobustnessPanel = lazy(async () => ({
  default: (await import('./robustness-panel.tsx')).RobustnessPanel,
}));

/** The report of a completed backtest. */
export function Report(props: {
  readonly job: Job;
  /** Leads to the search that found the parameters; absent: its id stands there. */
  readonly hyperopt?: ReactNode;
}) {
  const { job } = props;
  const report = useCall(
    'getBacktestReport',
    { params: { job_id: job.job_id }, query: { trades: false } },
    { isImmutable: true },
  );
  const currency = useMemo(() => currencyOf(job.config.pairs), [job.config.pairs]);
  return (
    <Loaded query={report} skeleton={<ReportSkeleton />}>
      {(data) => (
        <>
          <SectionNav without={data.robustness ? [] : ['robustness']} />
          <Section id="figures">
            <NoticesPanel report={data} job={job} />
            <MetricTiles report={data} currency={currency} />
            {data.assumptions && <AssumptionsPanel assumptions={data.assumptions} currency={currency} />}
          </Section>
          <Section id="equity">
            <EquityPanel id={job.job_id} report={data} currency={currency} />
            <MonthsPanel report={data} />
          </Section>
          <Section id="trades">
            <TradesSection job={job} report={data} currency={currency} />
          </Section>
          <Section id="groups">
            <TablesPanel report={data} currency={currency} />
          </Section>
          <Section id="costs">
            <div className="report-pair">
              <DrawdownsPanel report={data} currency={currency} />
              <CostsPanel report={data} currency={currency} />
            </div>
          </Section>
          {data.robustness && (
            <Section id="robustness">
              <Suspense fallback={<Skeleton rows={14} className="panel" />}>
                <RobustnessPanel robustness={data.robustness} currency={currency} />
              </Suspense>
            </Section>
          )}
          {(data.universe || data.locks || data.informative || data.models) && (
            <Suspense fallback={<Skeleton rows={8} className="panel" />}>
              <RarePanels report={data} />
            </Suspense>
          )}
          <Section id="provenance">
            <FiguresPanel report={data} currency={currency} />
            <ProvenancePanel report={data} job={job} hyperopt={props.hyperopt} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

function ReportSkeleton() {
  return (
    <>
      <Skeleton rows={2} className="panel report-skeleton-tiles" />
      <Skeleton rows={13} className="panel" />
      <Skeleton rows={12} className="panel" />
    </>
  );
}
