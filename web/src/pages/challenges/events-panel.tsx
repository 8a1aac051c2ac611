import { useCall } from '../../api/queries.ts';
import { words } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';

/** What happened to a challenge: who, when and why. */
export function EventsPanel({ id }: { readonly id: string }) {
  const query = useCall('listChallengeEvents', { params: { challenge_id: id }, query: { limit: 100 } });
  return (
    <Panel title="Events">
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {({ items }) => (
          <ol className="challenge-events">
            {items.map(({ sequence, at, actor, action, canary_stage, outcome, reason }) => (
              <li key={sequence}>
                <span className="row">
                  <Time at={at} /> <strong>{actor}</strong> {words(action)}
                  <span className="badge">{words(canary_stage)}</span>
                  {outcome && <span className="badge">{words(outcome)}</span>}
                </span>
                {reason && <span className="muted">{reason}</span>}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Panel>
  );
}
