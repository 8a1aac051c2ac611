import { Link } from '@tanstack/react-router';
import { CloudOff, Radio, TriangleAlert } from 'lucide-react';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import { SIMULATED } from '#contract/values/names.ts';
import type { StreamState } from '../../api/events.ts';
import { decimal, duration, listed, NO_VALUE, shortPair, utcDate } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { Figure, FoundMark, Progress, Status, Tile } from '../../ui/parts.tsx';
import { isMoving, type Job } from './live.ts';
import type { JobView } from './view.ts';

const STREAM_TEXTS: Readonly<Record<StreamState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  retrying: 'Reconnecting, polling meanwhile',
  ended: 'Complete',
  refused: 'Polling',
};

/** Market and state of a job, progress while it runs, and its key figures. */
export function JobHead({ view, state }: { readonly view: JobView; readonly state: StreamState }) {
  const { job, rows } = view;
  const { pairs, timeframe, exchange, config, queue } = job;
  const ended = Math.max(rows.length, job.current_trial);
  const moving = isMoving(job);
  return (
    <>
      <div className="row job-facts">
        <Status status={job.status} />
        <span>{job.strategy}</span>
        <span title={pairs.join(', ')}>{listed(pairs.map(shortPair), 3)}</span>
        <span>{timeframe}</span>
        <span>
          {utcDate(config.date_range.start)} to {utcDate(config.date_range.end)} UTC
        </span>
        <span className="badge" {...(exchange === SIMULATED ? { 'data-tone': 'warn' } : {})}>
          {exchange === SIMULATED ? 'sim: simulated market' : exchange}
        </span>
        {moving && <StreamBadge state={state} />}
      </div>
      {moving && (
        <div className="job-progress">
          <Progress
            value={job.status === 'pending' ? undefined : finishedShare(job, ended)}
            label="Finished trials"
          />
          <span className="muted">
            {decimal(ended, 0)} of {decimal(job.total_trials, 0)} trials
            {job.permutations &&
              ` · ${decimal(job.permutations.ended, 0)} of ${decimal(job.permutations.total, 0)} searches on permuted candles`}
            {queue?.position && ` · place ${queue.position} in the queue`}
          </span>
        </div>
      )}
      <Notices job={job} />
      <Tiles view={view} />
    </>
  );
}

/** Share of the finished trials, with those of the permuted searches: each has as many as the job. */
function finishedShare({ total_trials, permutations }: Job, ended: number): number {
  const searches = ended / total_trials + (permutations?.ended ?? 0);
  return searches / (1 + (permutations?.total ?? 0));
}

function StreamBadge({ state }: { readonly state: StreamState }) {
  const isLive = state === 'live';
  const Icon = isLive ? Radio : CloudOff;
  return (
    <span className="badge" data-tone={isLive ? 'up' : 'warn'}>
      <Icon aria-hidden="true" /> {STREAM_TEXTS[state]}
    </span>
  );
}

function Notices({ job }: { readonly job: Job }) {
  return (
    <>
      {job.error && (
        <div className="notice" data-tone="down" role="alert">
          <TriangleAlert aria-hidden="true" /> {job.error} {job.error_code && <code>{job.error_code}</code>}
        </div>
      )}
      {job.stalled && (
        <div className="notice" data-tone="warn">
          <TriangleAlert aria-hidden="true" /> Stalled: {job.stalled}
        </div>
      )}
      {job.look_ahead?.state === 'found' && (
        <div className="notice" data-tone="down" role="alert">
          <TriangleAlert aria-hidden="true" />
          <span>
            <FoundMark state="found" /> The strategy uses candles that are not known yet: no trial is the
            best. {job.look_ahead.findings[0]}
          </span>
        </div>
      )}
      {foldWarnings(job.warnings).map((warning) => (
        <div key={warning} className="notice" data-tone="warn">
          <TriangleAlert aria-hidden="true" /> {warning}
        </div>
      ))}
      {job.resumed_from && (
        <div className="notice">
          Resumes{' '}
          <Link to="/hyperopt/$id" params={{ id: job.resumed_from }}>
            {job.resumed_from}
          </Link>
          : its finished trials are not run again.
        </div>
      )}
    </>
  );
}

/** Seconds that a job has run, or ran. */
function useElapsed({ started_at, finished_at }: Job): number | null {
  const now = useNow(1_000);
  if (!started_at) return null;
  const end = finished_at ? Date.parse(finished_at) : now;
  return (end - Date.parse(started_at)) / 1_000;
}

function Tiles({ view }: { readonly view: JobView }) {
  const { job, rows, standing, objective } = view;
  const { best, complete, pruned, failed } = standing;
  const elapsed = useElapsed(job);
  const bestValue = best?.value ?? job.best_value;
  const bestNumber = best?.number ?? job.best_trial;
  const counts = rows.length > 0 ? { complete, pruned, failed } : job.trials;
  const ended = counts.complete + counts.pruned + counts.failed;
  const rate = elapsed && elapsed > 0 ? (ended / elapsed) * 60 : null;
  const share = finishedShare(job, ended);
  const left = elapsed && share > 0 && isMoving(job) ? (elapsed / share) * (1 - share) : null;
  return (
    <div className="tiles">
      <Tile
        label={`Best ${objective.label.replace(/ \(.*\)$/, '')}`}
        value={<Figure state={job.look_ahead?.state}>{objective.withUnit(bestValue)}</Figure>}
        sub={bestNumber === null ? 'no complete trial yet' : `trial ${bestNumber}`}
        definition={`Best value of the objective over the complete trials: ${job.config.direction} ${job.config.objective_metric}. The best of many trials is better than what it will earn: see the result.`}
      />
      <Tile
        label="Complete"
        value={decimal(counts.complete, 0)}
        sub={`of ${decimal(job.total_trials, 0)} trials`}
        definition="Trials that ran all walk-forward windows and have a value."
      />
      <Tile
        label="Pruned"
        value={decimal(counts.pruned, 0)}
        sub={`by ${job.config.pruner}`}
        definition="Trials stopped early because their windows were worse than those of the best."
      />
      <Tile
        label="Failed"
        value={decimal(counts.failed, 0)}
        sub="without a value"
        definition="Trials that ended with an error, such as a metric that is not defined without trades."
      />
      <Tile
        label="Time"
        value={duration(elapsed)}
        sub={left === null ? (isMoving(job) ? ' ' : 'in all') : `about ${duration(left)} left`}
        definition="Since the first worker started."
      />
      <Tile
        label="Pace"
        value={rate === null ? NO_VALUE : `${decimal(rate, rate < 10 ? 1 : 0)} / min`}
        sub={`${job.config.workers} ${job.config.workers === 1 ? 'worker' : 'workers'}`}
        definition="Finished trials per minute, those of the same parameters included."
      />
    </div>
  );
}
