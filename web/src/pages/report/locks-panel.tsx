import { value } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type ReportData, shortPair } from './data.ts';

type Locks = NonNullable<ReportData['locks']>;
type Lock = Locks['newest'][number];

const COLUMNS: readonly Column<Lock>[] = [
  { key: 'pair', title: 'Pair', cell: ({ pair }) => (pair === null ? 'all' : shortPair(pair)) },
  { key: 'side', title: 'Side', cell: ({ side }) => side ?? 'both' },
  { key: 'from', title: 'From (UTC)', cell: ({ from }) => <Time at={from} /> },
  { key: 'until', title: 'Until (UTC)', cell: ({ until }) => <Time at={until} /> },
  { key: 'reason', title: 'Reason', cell: ({ reason }) => reason },
];

/** Times in which protections allowed no entry. */
export function LocksPanel({ locks: { total, newest } }: { readonly locks: Locks }) {
  return (
    <Panel title={`Locks by protections, ${value(total, 'count')}`}>
      {total === 0 ? (
        <Empty title="No protection made a lock">The limits of the protections were never reached.</Empty>
      ) : (
        <Table
          rows={newest}
          columns={COLUMNS}
          idOf={(lock) => newest.indexOf(lock)}
          label={total > newest.length ? `The newest ${newest.length} locks` : 'Locks'}
        />
      )}
    </Panel>
  );
}
