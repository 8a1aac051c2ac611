import { X } from 'lucide-react';
import { type ReactNode, useMemo } from 'react';
import { windowFigures } from '#contract/values/trial-windows.ts';
import { useCall } from '../../api/queries.ts';
import { Chart } from '../../charts/chart.tsx';
import { decimal, duration, NO_VALUE, utcDate } from '../../ui/format.ts';
import { Figure, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { isMoving, type Trial } from './live.ts';
import { Parameters } from './overview-tab.tsx';
import { pointOf } from './trials.ts';
import type { JobView } from './view.ts';

const DAY = 86_400;

/** The selected trial: parameters, walk-forward windows, error. */
export function TrialPanel({ view, number }: { readonly view: JobView; readonly number: number }) {
  const { job, change } = view;
  const query = useCall(
    'listHyperoptTrials',
    { params: { job_id: job.job_id }, query: { number, limit: 1 } },
    { isMoving: ({ items }) => isMoving(job) && items[0]?.state !== 'complete' },
  );
  return (
    <Panel
      title={`Trial ${decimal(number, 0)}`}
      id="trial"
      actions={
        <button
          type="button"
          className="btn icon plain"
          aria-label="Close the trial"
          onClick={() => change({ trial: undefined })}
        >
          <X aria-hidden="true" />
        </button>
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={9} />}>
        {({ items: [trial] }) =>
          trial ? (
            <TrialBody view={view} trial={trial} />
          ) : (
            <Empty title="This trial has not started">The job has {job.total_trials} trials, from 0.</Empty>
          )
        }
      </Loaded>
    </Panel>
  );
}

function TrialBody({ view, trial }: { readonly view: JobView; readonly trial: Trial }) {
  const { job, objective } = view;
  const { windows, started_at, finished_at, duplicate_of } = trial;
  const { worst, median, best } = windowFigures(windows, objective.isMaximized ? 'maximize' : 'minimize');
  const shown = (value: number | null) => (
    <Figure state={job.look_ahead?.state}>{objective.withUnit(value)}</Figure>
  );
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['State', trial.state],
    [objective.label, shown(trial.value)],
    ['Windows', String(windows.length)],
    ['Worst window', shown(worst)],
    ['Median window', shown(median)],
    ['Best window', shown(best)],
    [
      'Run time',
      finished_at ? duration((Date.parse(finished_at) - Date.parse(started_at)) / 1_000) : NO_VALUE,
    ],
    ['Worker', `${trial.worker}, attempt ${trial.attempt}`],
  ];
  return (
    <>
      {trial.error && (
        <div className="notice pad" data-tone="down">
          {trial.error}
        </div>
      )}
      {duplicate_of !== null && (
        <div className="notice">
          Same parameters as trial {duplicate_of}, whose result was used without a run.
        </div>
      )}
      <dl className="parameters pad">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3 className="pad">Parameters</h3>
      <Parameters at={pointOf(trial.params)} />
      {windows.length > 0 && <Windows view={view} trial={trial} />}
    </>
  );
}

/** Objective of each walk-forward window, at the first day of the window. */
function Windows({ view, trial }: { readonly view: JobView; readonly trial: Trial }) {
  const { job, objective } = view;
  const { date_range, backtest_period_days: days } = job.config;
  const start = Date.parse(date_range.start) / 1_000;
  const x = useMemo(
    () => ({
      title: 'First day of the window',
      isTime: true,
      values: trial.windows.map((_, index) => start + index * days * DAY),
      // The first and the last bar stand half outside the values.
      pad: (days * DAY) / 2,
      format: (seconds: number) => `${utcDate(seconds * 1_000)}, ${days} d`,
    }),
    [trial.windows, start, days],
  );
  const panes = useMemo(
    () => [
      {
        baselines: [0],
        series: [
          {
            title: objective.label,
            values: trial.windows,
            color: 'series-1' as const,
            kind: 'bars' as const,
            format: objective.withUnit,
          },
        ],
      },
    ],
    [trial.windows, objective],
  );
  return (
    <Chart
      title="Walk-forward windows"
      summary={`${trial.windows.length} windows of ${days} days, ${objective.label} of the whole ${objective.withUnit(trial.value)}`}
      x={x}
      panes={panes}
    />
  );
}
