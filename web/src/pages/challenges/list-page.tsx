import './challenges.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCall } from '../../api/queries.ts';
import { words } from '../../ui/format.ts';
import { FilterSelect, PageLinks } from '../../ui/job-list.tsx';
import { Age, PageHead, Panel } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { isWaitingForSomebody, stateOf } from './challenge-state.ts';
import { NewChallenge } from './new-challenge.tsx';
import { type Challenge, STATUSES } from './search.ts';

const COLUMNS: readonly Column<Challenge>[] = [
  {
    key: 'challenge',
    title: 'Challenge',
    cell: ({ challenge_id, model_name, champion_version, challenger_version }) => (
      <Link to="/challenges/$id" params={{ id: challenge_id }}>
        {model_name}{' '}
        <span className="muted">
          v{champion_version} against v{challenger_version}
        </span>
      </Link>
    ),
  },
  {
    key: 'status',
    title: 'Status',
    cell: (challenge) => (
      <span className="badge" data-tone={toneOf(challenge)}>
        {words(challenge.status)}
      </span>
    ),
  },
  {
    key: 'stage',
    title: 'Challenger’s share %',
    isNumber: true,
    cell: ({ traffic_split }) => Math.round(traffic_split[1]! * 100),
  },
  {
    key: 'trades',
    title: 'Trades',
    isNumber: true,
    cell: ({ champion_trades, challenger_trades }) => `${champion_trades} / ${challenger_trades}`,
  },
  { key: 'state', title: 'Waits for', cell: stateOf },
  { key: 'updated', title: 'Changed', cell: ({ updated_at }) => <Age at={updated_at} /> },
];

function toneOf(challenge: Challenge): string | undefined {
  if (isWaitingForSomebody(challenge)) return 'warn';
  if (challenge.status === 'rolled_back') return 'down';
  return challenge.outcome === 'challenger_wins' ? 'up' : undefined;
}

function emptyTitle(status: Challenge['status'] | undefined, hasMore: boolean): string {
  if (hasMore) return 'None on this page: older challenges are on the next one';
  return status ? `No challenge is ${words(status)}` : 'No challenge yet';
}

const route = getRouteApi('/challenges');

/** Champion/challenger tests of all models, and the form of a new one. */
export function ChallengesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useCall(
    'listAllChallenges',
    { query: { ...search, limit: 50 } },
    { keepPrevious: true, isMoving: () => false },
  );
  return (
    <>
      <PageHead title="Challenges" actions={<NewChallenge />} />
      <Panel
        title="Champion against challenger"
        actions={
          <div className="filters">
            <FilterSelect
              label="Status"
              all="Every status"
              values={STATUSES}
              value={search.status}
              onChange={(status) => void navigate({ search: status ? { status } : {}, replace: true })}
            />
          </div>
        }
      >
        <Loaded query={query} skeleton={<Skeleton rows={6} />}>
          {(page) => (
            <>
              {page.items.length > 0 ? (
                <div className="list">
                  <Table
                    label="All challenges"
                    rows={page.items}
                    columns={COLUMNS}
                    idOf={({ challenge_id }) => challenge_id}
                  />
                </div>
              ) : (
                <Empty title={emptyTitle(search.status, page.next_cursor !== null)}>
                  A challenge compares the version in Production with a staged one on real trades. Start one
                  with “New challenge”.
                </Empty>
              )}
              <PageLinks
                page={page}
                cursor={search.cursor}
                onCursor={(cursor) =>
                  void navigate({
                    search: ({ cursor: _, ...before }) => (cursor ? { ...before, cursor } : before),
                    replace: true,
                  })
                }
              />
            </>
          )}
        </Loaded>
      </Panel>
    </>
  );
}
