import { ArrowRight } from 'lucide-react';
import { useCall } from '../../api/queries.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { StageBadge } from './stage-badge.tsx';

/** Every change of a model: who, when, what and why. */
export function HistoryPanel({ name }: { readonly name: string }) {
  const query = useCall('getHistory', { params: { model_name: name }, query: { limit: 50 } });
  return (
    <Panel title="History">
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {({ items, next_cursor }) => (
          <>
            <ol className="history">
              {items.map((event) => (
                <li key={event.event_id}>
                  <span className="change-line">
                    <Time at={event.at} /> <strong>{event.actor}</strong> {event.action} v{event.version}
                    {event.from && event.from !== event.to && (
                      <>
                        <StageBadge stage={event.from} />
                        <ArrowRight role="img" aria-label="to" />
                      </>
                    )}
                    <StageBadge stage={event.to} />
                    {event.challenge_id && <code>{event.challenge_id}</code>}
                  </span>
                  {event.archived_versions.length > 0 && (
                    <span className="muted">
                      Archived: {event.archived_versions.map((version) => `v${version}`).join(', ')}
                    </span>
                  )}
                  {event.reason && <span>“{event.reason}”</span>}
                  {event.waiver && (
                    <span className="warn">
                      Waived {event.waiver.checks.join(', ')}: “{event.waiver.reason}”
                    </span>
                  )}
                  {event.notes.map((note) => (
                    <span key={note} className="muted">
                      {note}
                    </span>
                  ))}
                </li>
              ))}
            </ol>
            {next_cursor && (
              <p className="muted pad">
                Older changes: <code>npx touchstone history {name}</code>
              </p>
            )}
          </>
        )}
      </Loaded>
    </Panel>
  );
}
