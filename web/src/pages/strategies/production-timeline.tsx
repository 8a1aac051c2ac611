import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { DAY_MS } from '#contract/values/durations.ts';
import { useCall } from '../../api/queries.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { ReleaseRules } from './release-rules.tsx';

const SHOWN_MS = 90 * DAY_MS;

/** Who was in Production in the last 90 days, as a bar in the scale of time and as a list; and what a release needs. */
export function ProductionTimeline({ name }: { readonly name: string }) {
  // The range stays while the page is open: another one would be another request.
  const [now] = useState(() => Date.now());
  const [from, to] = [new Date(now - SHOWN_MS).toISOString(), new Date(now).toISOString()];
  const query = useCall('getProduction', { params: { model_name: name }, query: { from, to } });
  return (
    <Panel title="Production of the last 90 days">
      <Loaded query={query} skeleton={<Skeleton rows={3} />}>
        {(answer) =>
          'periods' in answer && (
            <div className="pad stack">
              <div className="timeline" aria-hidden="true">
                {answer.periods.map(({ version, from: since, to: until }) => (
                  <span
                    key={since}
                    data-empty={version === null}
                    style={{ flexGrow: Math.max(Date.parse(until) - Date.parse(since), 1) }}
                    title={version === null ? 'nobody' : `v${version}`}
                  >
                    {version === null ? '' : `v${version}`}
                  </span>
                ))}
              </div>
              <ol className="timeline-periods">
                {[...answer.periods].reverse().map(({ version, from: since, action, actor, reason }) => (
                  <li key={since}>
                    <Time at={since} />:{' '}
                    {version === null ? (
                      'nobody'
                    ) : (
                      <Link to="/strategies/$name/versions/$version" params={{ name, version }}>
                        v{version}
                      </Link>
                    )}
                    {action && (
                      <span className="muted">
                        {' '}
                        ({action} by {actor}
                        {reason && `: “${reason}”`})
                      </span>
                    )}
                  </li>
                ))}
              </ol>
            </div>
          )
        }
      </Loaded>
      <ReleaseRules />
    </Panel>
  );
}
