import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { STATUSES } from '../../api/jobs.ts';
import { useCall } from '../../api/queries.ts';
import { decimal, utcDate } from '../../ui/format.ts';
import { FilterSelect, PageLinks } from '../../ui/job-list.tsx';
import { Age, Panel, Progress, Status } from '../../ui/parts.tsx';
import { Empty, Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CancelCollection, isUnfinished, symbolsText } from './cancel-collection.tsx';
import { CollectionDetail } from './collection-detail.tsx';
import { useDataSearch } from './search.ts';

type Collection = ResponseOf<'getCollection'>;

const COLUMNS: readonly Column<Collection>[] = [
  { key: 'status', title: 'Status', cell: ({ status }) => <Status status={status} /> },
  { key: 'symbols', title: 'Symbols', cell: ({ symbols }) => symbolsText(symbols) },
  { key: 'timeframe', title: 'Timeframe', cell: ({ timeframe }) => timeframe },
  {
    key: 'progress',
    title: 'Progress',
    cell: ({ progress, symbols }) => (
      <span className="data-progress">
        <Progress value={progress} label={`Progress of ${symbolsText(symbols)}`} />
        {Math.floor(progress * 100)} %
      </span>
    ),
  },
  {
    key: 'candles',
    title: 'New candles',
    isNumber: true,
    cell: ({ candles }) => decimal(candles, 0),
  },
  { key: 'exchange', title: 'Exchange', cell: ({ exchange }) => exchange },
  {
    key: 'range',
    title: 'Range (UTC)',
    cell: ({ start, end }) => `${utcDate(start)} to ${utcDate(end)}`,
  },
  { key: 'created', title: 'Started', cell: ({ created_at }) => <Age at={created_at} /> },
  {
    key: 'actions',
    title: 'Action',
    cell: (collection) => isUnfinished(collection) && <CancelCollection collection={collection} />,
  },
];

/** Collections, newest first: the one that runs, the queue, and those that ended. */
export function CollectionsPanel() {
  const [search, change] = useDataSearch();
  const { status, cursor } = search;
  const query = useCall(
    'listCollections',
    { query: { limit: 20, ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) } },
    { isMoving: ({ items }) => items.some(isUnfinished), keepPrevious: true },
  );
  useRefreshOfCoverage(query.data?.items);
  return (
    <Panel
      title="Collections"
      actions={
        <div className="data-filters">
          {query.data && <span className="muted">{queueText(query.data.items)}</span>}
          <FilterSelect
            label="Status of the collections"
            all="Every status"
            values={STATUSES}
            value={status}
            onChange={(next) => change({ status: next, cursor: undefined })}
          />
        </div>
      }
    >
      {search.collection && (
        <CollectionDetail id={search.collection} onClose={() => change({ collection: undefined })} />
      )}
      <Loaded query={query} skeleton={<Skeleton rows={6} />}>
        {(page) => (
          <>
            {page.items.length === 0 ? (
              <Empty title={status ? `No collection is ${status}` : 'No collection yet'}>
                “Collect candles” above gets them from an exchange. Collections run one at a time and continue
                after a restart; what is stored is not collected again.
              </Empty>
            ) : (
              <div className="list">
                <Table
                  rows={page.items}
                  columns={COLUMNS}
                  idOf={({ collection_id }) => collection_id}
                  label="List of collections"
                  isSorted
                  selected={search.collection}
                  onPick={({ collection_id }) => change({ collection: collection_id })}
                />
              </div>
            )}
            <PageLinks page={page} cursor={cursor} onCursor={(next) => change({ cursor: next })} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** Number of unfinished collections; they are among the newest. */
function queueText(items: readonly Collection[]): string {
  const [running, waiting] = ['running', 'pending'].map(
    (status) => items.filter((each) => each.status === status).length,
  );
  return running! + waiting! === 0 ? 'None is waiting' : `${running} running, ${waiting} waiting`;
}

/** Loads the coverage again when a collection ends. */
function useRefreshOfCoverage(items: readonly Collection[] | undefined): void {
  const client = useQueryClient();
  const unfinished = items?.filter(isUnfinished).length;
  const before = useRef(unfinished);
  useEffect(() => {
    if (before.current !== undefined && unfinished !== undefined && unfinished < before.current) {
      void client.invalidateQueries({ queryKey: ['getCoverage'] });
      void client.invalidateQueries({ queryKey: ['getDataStatus'] });
    }
    before.current = unfinished;
  }, [client, unfinished]);
}
