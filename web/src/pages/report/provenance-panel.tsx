import type { ReactNode } from 'react';
import { lowestDeflation, trialsOfScope } from '#contract/values/deflated-ratio.ts';
import { decimal, duration, withUnit } from '../../ui/format.ts';
import { CopyButton, Panel, Time } from '../../ui/parts.tsx';
import type { Job, ReportData } from './data.ts';

const DIGESTS = [
  ['Strategy', 'strategy_digest'],
  ['Parameters', 'parameters_digest'],
  ['Configuration', 'config_digest'],
  ['Data', 'data_digest'],
  ['Instruments', 'instruments_digest'],
  ['All of them', 'digest'],
] as const;

/** What the result follows from: equal digests give equal results. Long because it is the list of the values. */
export function ProvenancePanel(props: {
  readonly report: ReportData;
  readonly job: Job;
  readonly hyperopt?: ReactNode;
}) {
  const { report, job, hyperopt } = props;
  const { provenance, settings, timing, look_ahead } = report;
  return (
    <Panel
      title="Provenance"
      actions={<CopyButton text={JSON.stringify({ job_id: job.job_id, ...provenance }, null, 2)} />}
    >
      <dl className="defs pad">
        <dt>Backtest</dt>
        <dd>
          <code>{job.job_id}</code>
        </dd>
        <dt>Engine</dt>
        <dd>{provenance.engine_version}</dd>
        {DIGESTS.map(([name, field]) =>
          provenance[field] === undefined ? null : (
            <div key={field} className="def">
              <dt>{name}</dt>
              <dd>
                <code className="digest" title={provenance[field]}>
                  {provenance[field].slice(0, 16)}
                </code>
              </dd>
            </div>
          ),
        )}
        <dt>Candles</dt>
        <dd>
          <Time at={settings.first_candle} /> to <Time at={settings.last_candle} />,{' '}
          {decimal(timing.candles, 0)} read
        </dd>
        {provenance.slippage_model && (
          <>
            <dt>Slippage model</dt>
            <dd>
              {Object.entries(provenance.slippage_model)
                .map(([part, value]) => `${part.replace('_', ' ')} ${value}`)
                .join(', ')}
            </dd>
          </>
        )}
        {settings.signals !== undefined && (
          <>
            <dt>Signals</dt>
            <dd>
              <code>{settings.signals}</code>, SHA-256{' '}
              <code className="digest" title={settings.signals_digest}>
                {settings.signals_digest?.slice(0, 16)}
              </code>
            </dd>
          </>
        )}
        <Tiers data={report.data} />
        <dt>Seed</dt>
        <dd>{settings.seed}</dd>
        <dt>Look-ahead check</dt>
        <dd>{lookAheadText(look_ahead)}</dd>
        {job.found_by && (
          <>
            <dt>Parameters found by</dt>
            <dd>
              {hyperopt ?? job.found_by.hyperopt_job_id}, trial {job.found_by.trial} of {job.found_by.trials}
            </dd>
          </>
        )}
        {job.trials && <Trials trials={job.trials} session={job.session} />}
        <dt>Computed in</dt>
        <dd>
          {timing.total_ms < 1_000 ? `${timing.total_ms} ms` : duration(timing.total_ms / 1_000)},{' '}
          {decimal(timing.peak_memory_mb, 0)} MB
        </dd>
      </dl>
      <details className="report-settings">
        <summary>All settings</summary>
        <pre className="pad">{JSON.stringify(settings, null, 2)}</pre>
      </details>
    </Panel>
  );
}

/** State of the check, with what was checked or why nothing was. */
function lookAheadText({ state, message }: ReportData['look_ahead']): string {
  return message.startsWith(state) ? state.replace('_', ' ') + message.slice(state.length) : message;
}

/** Leverage tiers that were applied to each pair, and where they are from. */
function Tiers({ data }: Pick<ReportData, 'data'>) {
  const tiers = data.flatMap(({ pair, leverage_tiers: own }) =>
    own ? [`${pair} ${own.count} (${own.source})`] : [],
  );
  if (tiers.length === 0) return null;
  return (
    <>
      <dt>Leverage tiers</dt>
      <dd>{tiers.join(', ')}</dd>
    </>
  );
}

/** Trials of the owner when the backtest completed. */
function Trials({ trials, session }: { readonly trials: NonNullable<Job['trials']> } & Pick<Job, 'session'>) {
  const lowest = lowestDeflation(trials);
  const { deflated_sharpe_ratio: ratio, reason } = lowest;
  const inSession = trials.session === null ? '' : `, ${decimal(trials.session, 0)} in session ${session}`;
  return (
    <>
      <dt>Trials on overlapping assets and dates</dt>
      <dd>
        {decimal(trials.owner, 0)}, {decimal(trials.strategy, 0)} of this strategy{inSession}
      </dd>
      <dt>Deflated Sharpe ratio</dt>
      <dd>
        {ratio === null
          ? `Undefined: ${reason}`
          : `${withUnit(ratio, 'probability')} by the ${trialsOfScope(lowest)}`}
      </dd>
    </>
  );
}
