import type { ReactNode } from 'react';
import { SIMULATED } from '#contract/values/names.ts';
import { isFile } from '../../api/client.ts';
import { listed, shortPair, utcDate, utcFull } from '../../ui/format.ts';
import { Age, FoundMark, PageHead, Status, Time } from '../../ui/parts.tsx';
import type { Job } from './data.ts';

/** Pairs that the head names before it counts the rest. */
const NAMED_PAIRS = 6;

/** Strategy, status and what was run on which data. */
export function JobHead(props: {
  readonly job: Job;
  readonly actions: ReactNode;
  /** Further facts, which only the platform knows. */
  readonly facts?: ReactNode;
}) {
  const { job, actions } = props;
  const { pairs, trading_mode, timeframe, timeframe_detail, exchange, date_range } = job.config;
  return (
    <PageHead title={job.strategy} actions={actions}>
      <p className="report-facts">
        <Status status={job.status} />
        <FoundMark state={job.look_ahead?.state} />
        <Fact name="Pairs" title={pairs.join(', ')}>
          {listed(pairs.map(shortPair), NAMED_PAIRS)}
        </Fact>
        {trading_mode && <Fact name="Trading mode">{trading_mode}</Fact>}
        <Fact name="Timeframe">
          {timeframe}
          {timeframe_detail && `, detail ${timeframe_detail}`}
        </Fact>
        <Fact name="Range">
          {dayOrTime(date_range.start)} to {dayOrTime(date_range.end)} UTC
        </Fact>
        <Fact name="Exchange">
          {exchange === SIMULATED ? (
            <span className="badge" data-tone="warn">
              sim, simulated prices
            </span>
          ) : (
            exchange
          )}
        </Fact>
        {job.experiment_name && <Fact name="Experiment">{job.experiment_name}</Fact>}
        {job.registered && (
          <Fact name="Begun from">
            {job.registered.model_name} {job.registered.version}
          </Fact>
        )}
        <Fact name="Submitted">
          <Time at={job.created_at} hasSeconds />
          {!isFile() && (
            <>
              {' '}
              (<Age at={job.created_at} />)
            </>
          )}
        </Fact>
        {props.facts}
      </p>
    </PageHead>
  );
}

/** A day, or a time that is not its midnight. */
function dayOrTime(time: string): string {
  return Date.parse(time) % 86_400_000 === 0 ? utcDate(time) : utcFull(time);
}

export function Fact(props: {
  readonly name: string;
  readonly title?: string;
  readonly children: ReactNode;
}) {
  return (
    <span title={props.title}>
      <span className="faint">{props.name}</span> {props.children}
    </span>
  );
}
