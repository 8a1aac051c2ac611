import { shortPair, value } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Locks = NonNullable<ReportData['locks']>;
type Lock = Locks['newest'][number];

const COLUMNS: readonly Column<Lock>[] = [
  { key: 'pair', title: 'Pair', width: 110, cell: ({ pair }) => (pair === null ? 'all' : shortPair(pair)) },
  { key: 'reason', title: 'Reason', width: 260, cell: ({ reason }) => reason },
  { key: 'from', title: 'From', width: 170, cell: ({ from }) => <Time at={from} /> },
  { key: 'until', title: 'Until', width: 170, cell: ({ until }) => <Time at={until} /> },
  { key: 'side', title: 'Side', width: 70, cell: ({ side }) => side ?? 'both' },
];

/** Times in which protections allowed no entry. */
export function LocksPanel({ locks: { total, newest } }: { readonly locks: Locks }) {
  return (
    <Panel
      title={`Locks by protections, ${value(total, 'count')}${total > newest.length ? `, the newest ${value(newest.length, 'count')} shown` : ''}`}
    >
      {total === 0 ? (
        <Empty title="No protection made a lock">The limits of the protections were never reached.</Empty>
      ) : (
        <div className="report-bounded">
          <VirtualTable rows={newest} columns={COLUMNS} idOf={(lock) => newest.indexOf(lock)} label="Locks" />
        </div>
      )}
    </Panel>
  );
}
