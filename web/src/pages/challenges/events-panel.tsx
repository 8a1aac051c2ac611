import { getRouteApi } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { words } from '../../ui/format.ts';
import { PageLinks } from '../../ui/job-list.tsx';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';

const route = getRouteApi('/challenges/$id');

/** What happened to a challenge: who, when and why. */
export function EventsPanel({ id }: { readonly id: string }) {
  const { events: cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useCall(
    'listChallengeEvents',
    { params: { challenge_id: id }, query: { limit: 50, ...(cursor ? { cursor } : {}) } },
    { keepPrevious: true, isMoving: () => false },
  );
  return (
    <Panel title="Events">
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {(page) => (
          <>
            <ol className="challenge-events">
              {page.items.map(({ sequence, at, actor, action, canary_stage, outcome, reason }) => (
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
            <PageLinks
              page={page}
              cursor={cursor}
              onCursor={(next) =>
                void navigate({
                  search: ({ events: _, ...before }) => (next ? { ...before, events: next } : before),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
