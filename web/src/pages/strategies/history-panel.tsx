import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowRight } from 'lucide-react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { FilterSelect, PageLinks } from '../../ui/job-list.tsx';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { HISTORY_KINDS as KINDS } from './search.ts';
import { StageBadge } from './stage-badge.tsx';

type ModelEvent = ResponseOf<'getHistory'>['items'][number];

/** Actions of each kind of change. */
const ACTIONS: Readonly<Record<(typeof KINDS)[number], readonly ModelEvent['action'][]>> = {
  production: ['promote', 'rollback', 'stop'],
  staging: ['stage', 'validate'],
  registration: ['register'],
};

const route = getRouteApi('/strategies/$name');

/** Every change of a model: who, when, what and why. */
export function HistoryPanel({ name }: { readonly name: string }) {
  const { history: cursor, changes: kind } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useCall(
    'getHistory',
    { params: { model_name: name }, query: { limit: 50, ...(cursor ? { cursor } : {}) } },
    { keepPrevious: true },
  );
  return (
    <Panel
      title="History"
      actions={
        <FilterSelect
          label="Changes"
          all="All changes"
          values={KINDS}
          value={kind}
          onChange={(next) =>
            void navigate({
              search: ({ changes: _, ...before }) => (next ? { ...before, changes: next } : before),
              replace: true,
              resetScroll: false,
            })
          }
        />
      }
    >
      <Loaded query={query} skeleton={<Skeleton rows={4} />}>
        {(page) => (
          <>
            <Changes events={page.items.filter(({ action }) => !kind || ACTIONS[kind].includes(action))} />
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

function Changes({ events }: { readonly events: readonly ModelEvent[] }) {
  if (events.length === 0) return <p className="pad muted">No such change on this page.</p>;
  return (
    <ol className="history">
      {events.map((event) => (
        <Change key={event.event_id} event={event} />
      ))}
    </ol>
  );
}

function Change({ event }: { readonly event: ModelEvent }) {
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
