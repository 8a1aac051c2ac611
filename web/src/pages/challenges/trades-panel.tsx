import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { NO_VALUE, shortSymbol, signed, tone, words } from '../../ui/format.ts';
import { PageLinks } from '../../ui/job-list.tsx';
import { Panel, Time } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Challenge } from './search.ts';

type Trade = ResponseOf<'listChallengeTrades'>['items'][number];

const route = getRouteApi('/challenges/$id');

const COLUMNS: readonly Column<Trade>[] = [
  {
    key: 'time',
    title: 'Closed, UTC',
    cell: ({ closed_at, status }) => (closed_at ? <Time at={closed_at} hasSeconds /> : words(status)),
  },
  { key: 'variant', title: 'Version', cell: ({ variant }) => variant },
  { key: 'pair', title: 'Pair', cell: ({ pair }) => (pair ? shortSymbol(pair) : NO_VALUE) },
  { key: 'side', title: 'Side', cell: ({ side }) => side ?? NO_VALUE },
  {
    key: 'profit',
    title: 'Profit %',
    isNumber: true,
    cell: ({ profit_pct }) => signed(profit_pct, 'percent'),
    tone: ({ profit_pct }) => tone(profit_pct),
  },
  { key: 'counts', title: 'Counts', cell: (trade) => whyNotCounted(trade) ?? 'yes' },
  { key: 'exit', title: 'Exit', isWideOnly: true, cell: ({ exit_reason }) => exit_reason ?? NO_VALUE },
  { key: 'stage', title: 'Stage', isWideOnly: true, cell: ({ canary_stage }) => words(canary_stage) },
  { key: 'mode', title: 'Mode', isWideOnly: true, cell: ({ mode }) => mode ?? NO_VALUE },
  { key: 'id', title: 'Trade', isWideOnly: true, cell: ({ trade_id }) => trade_id },
];

/** Why a trade is no part of the comparison; undefined for one that is. */
function whyNotCounted({ status, late, misassigned, unassigned, error_message }: Trade): string | undefined {
  if (late) return 'no: outside of the challenge';
  if (misassigned) return 'no: of the other version';
  if (unassigned) return 'no: not assigned';
  if (status === 'error') return `no: ${error_message ?? 'error'}`;
  return status === 'open' ? 'not yet: open' : undefined;
}

/** The trades as they were logged, newest first. */
export function TradesPanel({ challenge }: { readonly challenge: Challenge }) {
  const { trades: cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useCall(
    'listChallengeTrades',
    {
      params: { challenge_id: challenge.challenge_id },
      query: { limit: 20, ...(cursor ? { cursor } : {}) },
    },
    { keepPrevious: true, isMoving: () => challenge.status === 'active' },
  );
  return (
    <Panel title="Trades">
      <Loaded query={query} skeleton={<Skeleton rows={8} />}>
        {(page) => (
          <>
            {page.items.length > 0 ? (
              <div className="list">
                <Table
                  label="Trades of the challenge"
                  rows={page.items}
                  columns={COLUMNS}
                  idOf={({ sequence }) => sequence}
                />
              </div>
            ) : (
              <Empty title="No trade was logged yet">
                Traders post them to the challenge, with the key that was assigned.
              </Empty>
            )}
            <PageLinks
              page={page}
              cursor={cursor}
              onCursor={(next) =>
                void navigate({
                  search: ({ trades: _, ...before }) => (next ? { ...before, trades: next } : before),
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
