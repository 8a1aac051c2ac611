import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { PageLinks } from '../../ui/job-list.tsx';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { StageBadge } from './stage-badge.tsx';

const route = getRouteApi('/strategies/$name');

/** Every change of a model: who, when, what and why. */
export function HistoryPanel({ name }: { readonly name: string }) {
  const { history: cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useCall(
    'getHistory',
    { params: { model_name: name }, query: { limit: 50, ...(cursor ? { cursor } : {}) } },
    { keepPrevious: true },
  );
  return (
    <Panel title="History">
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {(page) => (
          <>
            <ol className="history">
              {page.items.map((event) => (
                <Change key={event.event_id} event={event} />
              ))}
            </ol>
            <PageLinks
              page={page}
              cursor={cursor}
              onCursor={(next) =>
                void navigate({
                  search: ({ history: _, ...before }) => (next ? { ...before, history: next } : before),
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

function Change({ event }: { readonly event: ResponseOf<'getHistory'>['items'][number] }) {
  return (
    <li>
      <span className="change-line">
        <Time at={event.at} /> <strong>{event.actor}</strong> {event.action} v{event.version}
        {event.from && event.from !== event.to && (
          <>
            <StageBadge stage={event.from} />
            <ArrowRight role="img" aria-label="to" />
          </>
        )}
        <StageBadge stage={event.to} />
        {event.challenge_id && (
          <Link to="/challenges/$id" params={{ id: event.challenge_id }}>
            challenge
          </Link>
        )}
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
  );
}
