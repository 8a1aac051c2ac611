import { Link } from '@tanstack/react-router';
import { ChartSpline, Database, Sparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import { decimal, NO_VALUE, signed, tone } from '../../ui/format.ts';
import { Exchange } from '../../ui/job-list.tsx';
import { Age, Figure, FoundMark, Progress, Status } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import type { OverviewJob } from './data.ts';
import { OverviewPanel, type OverviewProps } from './overview-panel.tsx';

const JOBS = ['backtests', 'hyperopt', 'collections'] as const;

/** Jobs that run or wait. */
export function MovingPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel query={query} title="Running and waiting" rows={10} parts={JOBS}>
      {({ moving }) =>
        moving.length === 0 ? (
          <Empty title="Nothing runs">
            <span className="row home-ways">
              <Link to="/backtests/new" className="btn">
                Run a backtest
              </Link>
              <Link to="/hyperopt/new" className="btn">
                Start a search
              </Link>
            </span>
          </Empty>
        ) : (
          <ul className="home-rows home-jobs">
            {moving.map((job) => (
              <JobRow key={job.id} job={job} at={job.started_at ?? job.created_at}>
                <JobProgress job={job} />
              </JobRow>
            ))}
          </ul>
        )
      }
    </OverviewPanel>
  );
}

/** Jobs that ended last, with their result. */
export function EndedPanel({ query }: OverviewProps) {
  return (
    <OverviewPanel query={query} title="Ended last" rows={10} parts={JOBS}>
      {({ ended }) =>
        ended.length === 0 ? (
          <Empty title="No job has ended yet">The last ten are listed here with their results.</Empty>
        ) : (
          <ul className="home-rows home-jobs">
            {ended.map((job) => (
              <JobRow key={job.id} job={job} at={job.finished_at ?? job.created_at}>
                <JobResult job={job} />
              </JobRow>
            ))}
          </ul>
        )
      }
    </OverviewPanel>
  );
}

/** The icons of the navigation. */
const KIND_ICONS = { backtest: ChartSpline, hyperopt: Sparkles, collection: Database } as const;

function JobRow(props: { readonly job: OverviewJob; readonly at: string; readonly children: ReactNode }) {
  const { job, at, children } = props;
  const Kind = KIND_ICONS[job.kind];
  return (
    <li>
      <Status status={job.status} />
      <span className="home-name">
        <Kind className="home-kind" aria-label={job.kind} />
        <JobLink job={job} />
        <Exchange name={job.exchange} />
        <FoundMark state={job.look_ahead} />
      </span>
      <span className="home-value">{children}</span>
      <span className="faint home-age">
        <Age at={at} />
      </span>
    </li>
  );
}

function JobLink({ job: { kind, id, name, experiment_name } }: { readonly job: OverviewJob }) {
  if (kind === 'collection') {
    return (
      <Link to="/data" search={{ collection: id }} title={name}>
        {name.replaceAll(/:\w+/g, '')}
      </Link>
    );
  }
  return (
    <>
      <Link
        to={kind === 'backtest' ? '/backtests/$id' : '/hyperopt/$id'}
        params={{ id }}
        title={experiment_name ? `${name} · ${experiment_name}` : name}
      >
        {name}
      </Link>
      {experiment_name && <span className="faint home-experiment">{experiment_name}</span>}
    </>
  );
}

function JobProgress({ job }: { readonly job: OverviewJob }) {
  if (job.status === 'pending') return <span className="muted">waits</span>;
  const share = job.progress ?? 0;
  return (
    <>
      <Progress value={share} label={`Progress of ${job.name}`} />
      <span className="home-percent">{decimal(Math.floor(share * 100), 0)} %</span>
    </>
  );
}

function JobResult({ job }: { readonly job: OverviewJob }) {
  const { status, error, total_profit_pct: profit, best_value, new_candles, look_ahead } = job;
  if (status !== 'completed') {
    return (
      <span className="muted home-error" title={error ?? undefined}>
        {error ?? status}
      </span>
    );
  }
  if (profit !== null) {
    return (
      <span className={tone(profit)}>
        <Figure state={look_ahead}>{signed(profit, 'percent')} %</Figure>
      </span>
    );
  }
  if (best_value !== null) {
    return (
      <Figure state={look_ahead}>
        <span className="faint">best</span> {decimal(best_value, 2)}
      </Figure>
    );
  }
  if (new_candles === null) return <span className="faint">{NO_VALUE}</span>;
  return (
    <span className="faint" title={`${decimal(new_candles, 0)} new candles`}>
      +{decimal(new_candles, 0)} candles
    </span>
  );
}
