import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { retryFailed, useCalls } from '../../api/queries.ts';
import { PageHead, Panel } from '../../ui/parts.tsx';
import { COMPARED, idsOf, idsText } from '../../ui/run-ids.ts';
import { Empty, ErrorState, Skeleton } from '../../ui/states.tsx';
import { useStableList } from '../../ui/use-stable-list.ts';
import { CompareTable } from './compare-table.tsx';
import { CurvesPanel } from './curves-panel.tsx';
import { metricGroups, settingRows } from './rows.ts';
import { hasReport, type Job, type Run, runOf } from './runs.ts';
import { RunsPanel } from './runs-panel.tsx';
import type { CompareSearch } from './search.ts';
import './compare.css';

const isUnfinished = ({ status }: Job) => status === 'pending' || status === 'running';

/** Two to ten backtests side by side. */
export function ComparePage() {
  const search = useSearch({ from: '/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const ids = idsOf(search.ids);
  const jobs = useCalls(
    'getBacktest',
    ids.map((id) => ({ params: { job_id: id } })),
    { isMoving: isUnfinished },
  );
  const change = (next: Partial<CompareSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false });
  if (ids.length < COMPARED.min) return <TooFew search={search} />;
  // Shown at once: runs that appear one after the other would move the page.
  const isLoaded = jobs.every(({ data, error }) => data !== undefined || error !== null);
  const missing = jobs.flatMap(({ data, error }, index) =>
    data === undefined && error ? [{ id: ids[index]!, error }] : [],
  );
  return (
    <>
      <PageHead title={`Compare ${ids.length} runs`} />
      {isLoaded ? (
        <Comparison
          jobs={jobs.map(({ data }) => data)}
          {...{ ids, missing, search }}
          onChange={change}
          onRemove={(id) =>
            change({
              ids: idsText(ids.filter((each) => each !== id)),
              ...(search.base === id ? { base: undefined } : {}),
            })
          }
        />
      ) : (
        <>
          <Skeleton rows={ids.length + 1} className="panel" />
          <Skeleton rows={14} className="panel" />
        </>
      )}
    </>
  );
}

function TooFew({ search }: { readonly search: CompareSearch }) {
  return (
    <>
      <PageHead title="Compare runs" />
      <Panel title="Runs">
        <Empty title="Two to ten runs are compared">
          <Link to="/backtests" search={search.ids ? { picked: search.ids } : {}} className="btn">
            Pick them in the list of backtests
          </Link>
        </Empty>
      </Panel>
    </>
  );
}

function Comparison(props: {
  readonly ids: readonly string[];
  /** In the order of the ids; undefined for one that is missing. */
  readonly jobs: readonly (Job | undefined)[];
  readonly missing: readonly { readonly id: string; readonly error: Error }[];
  readonly search: CompareSearch;
  readonly onChange: (next: Partial<CompareSearch>) => void;
  readonly onRemove: (id: string) => void;
}) {
  const { ids, jobs, missing, search, onChange, onRemove } = props;
  const known = useStableList(jobs);
  const runs = useMemo(() => known.flatMap((job, index): Run[] => (job ? [runOf(job, index)] : [])), [known]);
  const base = runs.find(({ id }) => id === search.base) ?? runs[0];
  if (!base) {
    return (
      <Panel title="Runs">
        <ErrorState error={missing[0]!.error} />
      </Panel>
    );
  }
  const only = search.only === true;
  return (
    <>
      <RunsPanel
        {...{ ids, runs, missing, onRemove }}
        base={base.id}
        onBase={(id) => onChange({ base: id })}
      />
      <CurvesPanel runs={runs} scale={search.scale ?? 'percent'} onScale={(scale) => onChange({ scale })} />
      <MetricsPanel runs={runs} base={base} only={only} onOnly={(next) => onChange({ only: next })} />
      <Panel title="Settings">
        <CompareTable
          label="Setting"
          runs={runs}
          base={base.id}
          groups={[
            {
              title: '',
              rows: settingRows(
                runs.map(({ job }) => job),
                runs.indexOf(base),
              ),
            },
          ]}
          onlyDifferent={only}
        />
      </Panel>
    </>
  );
}

function MetricsPanel(props: {
  readonly runs: readonly Run[];
  readonly base: Run;
  readonly only: boolean;
  readonly onOnly: (only: true | undefined) => void;
}) {
  const { runs, base, only, onOnly } = props;
  const finished = runs.filter(hasReport);
  const reports = useCalls(
    'getBacktestReport',
    finished.map(({ id }) => ({ params: { job_id: id }, query: { trades: false } })),
    { isImmutable: true },
  );
  const isLoaded = reports.every(({ data, error }) => data !== undefined || error !== null);
  const failed = reports.find(({ error }) => error)?.error;
  const reportOf = (run: Run) => reports[finished.indexOf(run)]?.data;
  return (
    <Panel
      title="Metrics"
      actions={
        <button
          type="button"
          className="btn small"
          aria-pressed={only}
          onClick={() => onOnly(only ? undefined : true)}
        >
          Only differences
        </button>
      }
    >
      {failed && <ErrorState error={failed} onRetry={() => retryFailed(reports)} />}
      {isLoaded ? (
        <CompareTable
          label="Metric"
          runs={runs}
          base={base.id}
          groups={metricGroups(runs.map(reportOf), runs.indexOf(base))}
          onlyDifferent={only}
          isNumber
        />
      ) : (
        <Skeleton rows={20} />
      )}
    </Panel>
  );
}
