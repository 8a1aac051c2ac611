import { Link } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import type { ApiError } from '../../api/client.ts';
import { utcDate } from '../../ui/format.ts';
import { Exchange } from '../../ui/job-list.tsx';
import { FoundMark, Panel, Status } from '../../ui/parts.tsx';
import { COMPARED, idsText } from '../../ui/run-ids.ts';
import { RunMark } from './run-mark.tsx';
import type { Run } from './runs.ts';

/** A run that cannot be shown, such as a deleted one. */
export interface MissingRun {
  readonly id: string;
  readonly error: Error;
}

/**
 * The compared runs: what each of them ran, and which one is the baseline.
 * Long because it is the markup of one table: its rows are runs, broken and missing ones too.
 */
export function RunsPanel(props: {
  readonly ids: readonly string[];
  readonly runs: readonly Run[];
  readonly missing: readonly MissingRun[];
  readonly base: string;
  readonly onBase: (id: string) => void;
  readonly onRemove: (id: string) => void;
}) {
  const { ids, runs, missing, base, onBase, onRemove } = props;
  return (
    <Panel
      title="Runs"
      actions={
        ids.length < COMPARED.max && (
          <Link to="/backtests" search={{ picked: idsText(ids)! }} className="btn small">
            <Plus aria-hidden="true" /> Pick others
          </Link>
        )
      }
    >
      <ul className="compare-runs">
        {runs.map((run) => (
          <li key={run.id}>
            <RunMark run={run} />
            <span className="compare-run">
              <span className="row">
                <Link to="/backtests/$id" params={{ id: run.id }}>
                  {run.job.strategy}
                </Link>
                {run.job.status !== 'completed' && <Status status={run.job.status} />}
                <Exchange name={run.job.config.exchange} />
                <FoundMark state={run.job.look_ahead?.state} />
                {run.job.tags.map((tag) => (
                  <span key={tag} className="badge">
                    {tag}
                  </span>
                ))}
              </span>
              <span className="muted">{factsOf(run)}</span>
            </span>
            <label className="check">
              <input
                type="radio"
                name="base"
                aria-label={`Baseline: ${run.letter}`}
                checked={run.id === base}
                onChange={() => onBase(run.id)}
              />
              Baseline
            </label>
            <RemoveButton name={run.letter} onRemove={() => onRemove(run.id)} />
          </li>
        ))}
        {missing.map(({ id, error }) => (
          <li key={id} className="compare-missing">
            <span className="compare-run">
              <code>{id}</code>
              <span className="down">
                {error.message} <code>{(error as ApiError).code}</code>
              </span>
            </span>
            <RemoveButton name={id} onRemove={() => onRemove(id)} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function factsOf({ job }: Run): string {
  const { pairs, timeframe, date_range } = job.config;
  const names = pairs.slice(0, 3).map((pair) => pair.split(':', 1)[0]);
  const rest = pairs.length > 3 ? ` +${pairs.length - 3}` : '';
  return `${names.join(', ')}${rest} · ${timeframe} · ${utcDate(date_range.start)} to ${utcDate(date_range.end)} UTC`;
}

function RemoveButton({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
  return (
    <button type="button" className="btn small icon plain" aria-label={`Remove ${name}`} onClick={onRemove}>
      <X aria-hidden="true" />
    </button>
  );
}
