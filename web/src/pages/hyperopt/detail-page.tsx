import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Announce } from '../../ui/announce.tsx';
import { PageHead } from '../../ui/parts.tsx';
import { ErrorState, Loaded, Skeleton } from '../../ui/states.tsx';
import { TabPanel, Tabs } from '../../ui/tabs.tsx';
import { JobActions } from './actions.tsx';
import { JobHead } from './detail-head.tsx';
import { isMoving, type Job, useJob, useTrials } from './live.ts';
import { objectiveOf } from './objective.ts';
import { OverviewTab } from './overview-tab.tsx';
import { ParametersTab } from './parameters-tab.tsx';
import { ResultTab } from './result-tab.tsx';
import type { DetailSearch } from './search.ts';
import { SettingsTab } from './settings-tab.tsx';
import { TrialPanel } from './trial-panel.tsx';
import { rowsOf, standingOf } from './trials.ts';
import { TrialsTab } from './trials-tab.tsx';
import type { JobView } from './view.ts';
import './hyperopt.css';

const TAB_ITEMS = [
  { key: 'overview', title: 'Overview' },
  { key: 'trials', title: 'Trials' },
  { key: 'parameters', title: 'Parameters' },
  { key: 'result', title: 'Result' },
  { key: 'settings', title: 'Settings' },
] as const;

/** A hyperopt job: live while it runs, then its result. */
export function HyperoptPage() {
  const { id } = useParams({ from: '/hyperopt/$id' });
  return <JobPage key={id} id={id} />;
}

function JobPage({ id }: { readonly id: string }) {
  const query = useJob(id);
  const title = query.data ? (query.data.experiment_name ?? query.data.strategy) : 'Hyperopt job';
  return (
    <>
      <PageHead title={title} {...(query.data ? { actions: <JobActions job={query.data} /> } : {})}>
        <code className="muted">{id}</code>
      </PageHead>
      <Loaded query={query} skeleton={<Skeleton rows={20} />}>
        {(job) => <JobBody job={job} />}
      </Loaded>
    </>
  );
}

function JobBody({ job }: { readonly job: Job }) {
  const { trials, state, error } = useTrials(job.job_id, isMoving(job));
  const search = useSearch({ from: '/hyperopt/$id' });
  const navigate = useNavigate({ from: '/hyperopt/$id' });
  const { objective_metric, direction } = job.config;
  const objective = useMemo(() => objectiveOf(objective_metric, direction), [objective_metric, direction]);
  const rows = useMemo(() => rowsOf(trials), [trials]);
  const standing = useMemo(() => standingOf(rows, objective.isBetter), [rows, objective]);
  const change = useMemo(
    () => (next: Partial<DetailSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true, resetScroll: false }),
    [navigate],
  );
  const tab = TAB_ITEMS.find(({ key }) => key === search.tab)?.key ?? 'overview';
  // Trials that had finished before come in several chunks: showing each would move the page.
  const [before] = useState(job.current_trial);
  const isLoading = rows.length < before && error === undefined;
  const view: JobView = { job, rows, isLoading, standing, objective, search, change };
  const isMissing = error !== undefined && rows.length === 0;
  return (
    <>
      <JobHead view={view} state={state} />
      <Announce
        text={
          isMoving(job)
            ? `${rows.length} of ${job.total_trials} trials finished, best ${objective.withUnit(standing.best?.value)}`
            : `The job is ${job.status}`
        }
      />
      <Tabs
        items={TAB_ITEMS}
        selected={tab}
        onSelect={(key) => change({ tab: key === 'overview' ? undefined : key })}
        label="Parts of the job"
      />
      <TabPanel selected={tab} className="stack">
        {isMissing && tab !== 'settings' ? (
          <ErrorState error={error} />
        ) : (
          <>
            {tab === 'overview' && <OverviewTab view={view} />}
            {tab === 'trials' && <TrialsTab view={view} />}
            {tab === 'parameters' && <ParametersTab view={view} />}
            {tab === 'result' && <ResultTab view={view} />}
            {tab === 'settings' && <SettingsTab job={job} />}
            {tab !== 'settings' && search.trial !== undefined && (
              <TrialPanel view={view} number={search.trial} />
            )}
          </>
        )}
      </TabPanel>
    </>
  );
}
